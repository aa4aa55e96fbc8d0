"""A second opinion on the packs: random worlds, and a judge that reads the policy on its own.

A world is a whole database with its read and write tools (`worlds/`). A judge (`judges/`) looks at
that whole database and says which clauses a proposed write breaks; it shares no code with the
packs. The gate sees only what the conversation has read. `properties` says how the two must agree.
"""
