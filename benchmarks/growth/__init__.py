"""How cost grows: records, history, rules, conversations, runs, workers. Some 20 minutes on two cores.

Processor time, the least of three where it is not a server's, and the exponent between the last two points:
1 where twice as much costs twice as much.

    python -m benchmarks.growth [--parts records,history,... --most-runs 100000]
"""
