"""A language model of a few kilobytes, written as a GGUF file: Llama architecture, one layer, one token per byte.

Its weights are random numbers with a fixed seed, so it is untrained; the grammar that a server compiles from a schema makes its
output valid. One direction is not random: `close` is the bias for characters that end a string, an array or an object. With a
positive value responses are short, with a negative one they never end.
"""

import random
import struct

SEED = 20
WIDTH = 32
HEADS = 2
INNER = 64
CONTEXT = 65536

MARKS = '"]}'
# The tokens before the byte tokens: unknown, start, end, and the space, which has its own symbol in this kind of vocabulary. The
# numbers are the token types of the format.
SPECIAL = [("<unk>", 2), ("<s>", 3), ("</s>", 3), ("\u2581", 1)]
BYTE = 6
END = 2
CHAT = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)

# Value types in the header of the file.
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
ALIGNMENT = 32


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, given):
    if kind == STRING:
        return text(given)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}[kind], given)


def entry(name, kind, given):
    if isinstance(given, list):
        head = struct.pack("<IIQ", ARRAY, kind, len(given))
        return text(name) + head + b"".join(value(kind, one) for one in given)
    return text(name) + struct.pack("<I", kind) + value(kind, given)


def head(name):
    tokens = [token for token, _ in SPECIAL] + [f"<0x{byte:02X}>" for byte in range(256)]
    kinds = [kind for _, kind in SPECIAL] + [BYTE] * 256
    entries = [
        ("general.architecture", STRING, "llama"),
        ("general.name", STRING, name),
        ("general.file_type", UINT32, 0),
        ("llama.context_length", UINT32, CONTEXT),
        ("llama.embedding_length", UINT32, WIDTH),
        ("llama.block_count", UINT32, 1),
        ("llama.feed_forward_length", UINT32, INNER),
        ("llama.attention.head_count", UINT32, HEADS),
        ("llama.attention.head_count_kv", UINT32, HEADS),
        ("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        ("llama.rope.dimension_count", UINT32, WIDTH // HEADS),
        ("llama.vocab_size", UINT32, len(tokens)),
        ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.tokens", STRING, tokens),
        ("tokenizer.ggml.scores", FLOAT32, [0.0] * len(tokens)),
        ("tokenizer.ggml.token_type", INT32, kinds),
        ("tokenizer.ggml.unknown_token_id", UINT32, 0),
        ("tokenizer.ggml.bos_token_id", UINT32, 1),
        ("tokenizer.ggml.eos_token_id", UINT32, END),
        ("tokenizer.ggml.add_space_prefix", BOOL, False),
        ("tokenizer.chat_template", STRING, CHAT),
    ]
    return len(tokens), entries


def weights(tokens, close):
    """The tensors: name, shape (in the order of the file, rows last), values."""
    chance = random.Random(SEED)

    def noise(rows, columns, scale):
        return [[chance.gauss(0, scale) for _ in range(columns)] for _ in range(rows)]

    embedding = noise(tokens, WIDTH, 0.5)
    output = noise(tokens, WIDTH, 0.5)
    for row in embedding:
        # A constant part of every token, which the bias of the closing characters acts on.
        row[0] = 2.0
    for token, row in enumerate(output):
        row[0] = 0.0
        if token == END or token >= len(SPECIAL) and chr(token - len(SPECIAL)) in MARKS:
            row[0] = close
    yield "token_embd.weight", embedding
    yield "output.weight", output
    yield "output_norm.weight", [[1.0] * WIDTH]
    yield "blk.0.attn_norm.weight", [[1.0] * WIDTH]
    yield "blk.0.ffn_norm.weight", [[1.0] * WIDTH]
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        yield f"blk.0.{part}.weight", noise(WIDTH, WIDTH, 0.1)
    for part in ("ffn_gate", "ffn_up"):
        yield f"blk.0.{part}.weight", noise(INNER, WIDTH, 0.1)
    yield "blk.0.ffn_down.weight", noise(WIDTH, INNER, 0.1)


def write(path, name, close):
    tokens, entries = head(name)
    infos, data = [], b""
    for tensor, rows in weights(tokens, close):
        shape = [len(rows[0])] + ([len(rows)] if len(rows) > 1 else [])
        sizes = struct.pack(f"<{len(shape)}Q", *shape)
        infos.append(text(tensor) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", 0, len(data)))
        data += b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
        data += bytes(-len(data) % ALIGNMENT)
    start = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(entries))
    start += b"".join(entry(*one) for one in entries) + b"".join(infos)
    with open(path, "wb") as file:
        file.write(start + bytes(-len(start) % ALIGNMENT) + data)
