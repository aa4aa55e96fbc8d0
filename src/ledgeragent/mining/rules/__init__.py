"""Rules drafted from what right calls have in common: never enforced before a person has read them."""
