"""The llama.cpp server from the package `xllamacpp`, with a generated model.

    python server.py MODEL.gguf CLOSE

`CLOSE` is the bias of the model: see `model.py`. Prints one line of JSON with its address, and serves until its standard input
ends.
"""

import json
import os
import sys

import xllamacpp

import model

NAME = "tiny"


def main(path, close):
    # Another server may be reading it.
    fresh = f"{path}.{os.getpid()}"
    model.write(fresh, NAME, close)
    os.replace(fresh, path)
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {NAME}
    params.n_ctx = model.CONTEXT
    params.n_parallel = 1
    params.warmup = False
    params.port = 0
    params.api_keys = [os.environ["LLAMA_KEY"]]
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.read()


main(sys.argv[1], float(sys.argv[2]))
