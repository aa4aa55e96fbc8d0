# /// script
# dependencies = ["ag2[openai]==1.2.1"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""ag2"""
