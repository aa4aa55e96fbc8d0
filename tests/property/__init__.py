"""Properties of the core that hold for every input, searched for counterexamples by Hypothesis."""
