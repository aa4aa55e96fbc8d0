"""The gateway: a proxy in front of a model API that keeps the ledger and judges every reply.

`dialects/` knows the three wire formats, `memory` folds the history a client sends, `exchange` is the
loop of one request, `server` the HTTP around it.
"""
