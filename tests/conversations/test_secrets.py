"""What looks like a secret alarms before it is sent, and what people paste when they ask for help does not (ORD-12)."""

import base64
import random
import string
import time

import pytest

from accounts.keys import new_code, new_token
from conversations.secrets import find, mark_of, phrase_words

LOT = random.Random(7)  # noqa: S311  # the same strings in every run


def drawn(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(LOT.choice(alphabet) for _ in range(length))


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
WORDS = sorted(phrase_words())
TWELVE = " ".join(LOT.sample(WORDS, 12))
TWENTY_FOUR = "\n".join(f"{place}. {word}" for place, word in enumerate(LOT.sample(WORDS, 24), 1))
PEM = "-----BEGIN {}PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nkjh3\n-----END {}PRIVATE KEY-----"
JWT = ".".join(["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", drawn(43)])

SECRETS = {
    "RSA key": (PEM.format("RSA ", "RSA "), "private_key"),
    "OpenSSH key": (PEM.format("OPENSSH ", "OPENSSH "), "private_key"),
    "key cut off": ("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg", "private_key"),
    "PGP key": ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----", "private_key"),
    "PuTTY key": ("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none", "private_key"),
    "OpenSSH key without its first line": ("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ==", "private_key"),
    "twelve words": (f"My wallet: {TWELVE}", "phrase"),
    "twenty-four numbered words": (TWENTY_FOUR, "phrase"),
    "twelve words with commas": (TWELVE.replace(" ", ", "), "phrase"),
    "words in capitals": (TWELVE.upper(), "phrase"),
    "extended private key": ("xprv" + drawn(107, BASE58), "wallet_key"),
    "WIF": ("KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn", "wallet_key"),
    "Solana's id.json": (str([LOT.randrange(256) for _ in range(64)]), "wallet_key"),
    "named hexadecimal key": ("private key: 0x" + drawn(64, "0123456789abcdef"), "wallet_key"),
    "AWS id": ("aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE", "aws"),
    "AWS secret": ("AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws"),
    "GitHub": ("git clone https://ghp_" + drawn(36) + "@github.com/x/y", "github"),
    "GitHub, fine": ("github_pat_" + drawn(22) + "_" + drawn(59), "github"),
    "GitLab": ("glpat-" + drawn(20), "gitlab"),
    "Hugging Face": ("huggingface-cli login --token hf_" + drawn(34), "hugging_face"),
    "OpenAI": ("OPENAI_API_KEY=sk-proj-" + drawn(48), "model_key"),
    "Anthropic": ("sk-ant-api03-" + drawn(60), "model_key"),
    "Slack": ("xoxb-1234567890-" + drawn(24), "slack"),
    "Slack hook": ("https://hooks.slack.com/services/T000/B000/" + drawn(24), "slack"),
    "Google": ("AIza" + drawn(35), "google"),
    "Telegram": ("123456789:AA" + drawn(33), "telegram"),
    "JWT": (JWT, "jwt"),
    "bearer": ("curl -H 'Authorization: Bearer " + drawn(32) + "'", "login"),
    "address with a password": ("postgres://ada:hunter2x@db.example/app", "login"),
    "password": ("password = hunter2!", "password"),
    "password in YAML": ("  password: correcthorse\n", "password"),
    "password in JSON": ('{"user": "ada", "password": "s3cr3t-word"}', "password"),
    "password in prose": ("my password is Tr0ub4dor&3, please look", "password"),
    "Russian": ("пароль: Qwerty12345", "password"),
    "Polish": ("hasło: tajne123", "password"),
    "environment": ("export WANDB_API_KEY=" + drawn(40, "0123456789abcdef"), "password"),
    "database": ("DB_PASSWORD='p0stgres'", "password"),
    "random": ("key " + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA" + "lO0I", "random"),
}  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_ord_12_a_secret_alarms(name: str) -> None:
    text, code = SECRETS[name]
    assert code in [one.code for one in find(text)], find(text)


@pytest.mark.parametrize("_again", range(20))
def test_ord_12_our_own_secrets_alarm(_again: int) -> None:
    assert [one.code for one in find(f"I cannot use {new_code()}")] == ["recovery_code"]
    assert [one.code for one in find(f"My token: {new_token()}")] == ["own_token"]


TRACEBACK = """Traceback (most recent call last):
  File "/home/ada/venv/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py", line 1183, in forward
    outputs = self.model(input_ids=input_ids, token_type_ids=None, use_auth_token=True, max_new_tokens=512)
  File "/home/ada/train.py", line 17, in <module>
    tokenizer = AutoTokenizer.from_pretrained(name, token=os.environ["HF_TOKEN"], pad_token="<|endoftext|>")
    api_key=api_key, password=password, secret = get_secret("db")
<torch.nn.modules.linear.Linear object at 0x7f3c4c1b2d30> <function f at 0x00007FFB1C2D3E4F>
RuntimeError: CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1. Compile with `TORCH_USE_CUDA_DSA` to enable device assertions.
terminate called after throwing an instance of 'c10::Error'
frame #3: _ZN2at6native12_GLOBAL__N_121cudaStreamSynchronizeEP11CUstream_stRKNS_6TensorE + 0x1f (0x7f0a in libtorch.so)
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB (GPU 0; 23.69 GiB total capacity)
GPU-5d3e1a2b-7c9f-4e21-b0a4-1f2e3d4c5b6a  NVIDIA-SMI 550.54.15  Driver Version: 550.54.15  CUDA Version: 12.4
"""
FREEZE = """torch==2.3.1+cu121
nvidia-cudnn-cu12==8.9.2.26
-e git+https://github.com/huggingface/transformers@a0857740c0e6127485c11476650314df3accc2b6#egg=transformers
flash-attn @ file:///tmp/flash_attn-2.5.9.post1+cu122torch2.3cxx11abiFALSE-cp311-cp311-linux_x86_64.whl#sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
tokenizers==0.19.1
pytorch-2.3.1-py3.11_cuda12.1_cudnn8.9.2_0
Qwen2VLForConditionalGeneration_8B_Instruct_AWQ_GPTQ_Int4
"""
HARMLESS = {
    "traceback": TRACEBACK,
    "pip freeze": FREEZE,
    "git hash": "commit 3fa984add364ec63aaecf2c67b9272480933f237",
    "Bitcoin txid": "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16",
    "Ethereum txid": "0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b",
    "txid as a token": "token: f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16",
    "Solana transaction": "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    "Bitcoin": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "Taproot": "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
    "Ethereum": "0x52908400098527886E0F7030069857D2E4169EE7 0xde709f2102306220921060314715629080e2fb77",
    "Tron": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    "Solana": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA 9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
    "extended public key": "xpub" + drawn(107, BASE58),
    "public SSH key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Z0Xq8fX0kHkD8mFqP6x3aLw9bQz7V2cR5tY4uN1eK ada@home",
    "fingerprint": "ED25519 key fingerprint is SHA256:uNiVztksCsDhcc0u9e8BrmThx1MoV0yLSoTmBnBTsRk.",
    "certificate": "-----BEGIN CERTIFICATE-----\n" + drawn(64) + "\n-----END CERTIFICATE-----",
    "order number": "My order GL-7K3M-9QX2 and instructions 8b0c7f5e-3f0a-4f7e-9a45-6f1f5c0a9b11",
    "question about a password": "I lost my password: how do I reset it? Is there a password reset by email?",
    "password refused": "Permission denied, please try again. ada@gpu1's password: ",
    "placeholder": "password = <your password>, token=hf_xxx, api_key=YOUR_API_KEY, PASSWORD=${PW}, secret: ***",
    "address without a password": "ssh -p 2222 ada@gpu-17.example.net and https://user:password@host/",
    "prose": "The access token is not accepted, the secret is that nobody told us. Which key: the public one?",
    "tokens": "eos_token: </s>, pad_token=50256, max_tokens: 4096, tokens = tokenizer(text), token: 128001",
    "long prose": "when you run the model again with the same seed and data the result should stay the same " * 5,
    "Russian": "Перевод не виден, пароль не подходит: что делать? Забыл пароль: как его сбросить",
    "shape": "tensor([[1, 2, 3]]), torch.Size([1, 4096, 32000]) " + str(list(range(200, 264))),
    "NCCL": "NCCL_P2P_DISABLE=1 NCCL_DEBUG=INFO node01:12345:12399 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB",
    "repeated word": "run run run run run run run run run run run run run run",
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_ord_12_what_people_paste_for_help_does_not_alarm(name: str) -> None:
    assert not [(one.code, HARMLESS[name][one.start : one.end]) for one in find(HARMLESS[name])]


def test_hashes_and_addresses_do_not_alarm_and_keys_do_most_of_the_time() -> None:
    """In numbers: no hash or address of 500 alarms; of 500 random keys without a known beginning nine in ten do."""
    for _ in range(500):
        harmless = [
            drawn(40, "0123456789abcdef"),
            "0x" + drawn(64, "0123456789abcdef"),
            drawn(44, BASE58),
            drawn(88, BASE58),
        ]
        assert not find(" ".join(harmless))
    keys = [drawn(length) for length in (32, 40, 48, 64) for _ in range(125)]
    keys += [base64.urlsafe_b64encode(LOT.randbytes(32)).decode() for _ in range(100)]
    assert sum(bool(find(f"use {key} please")) for key in keys) >= 0.9 * len(keys)


def test_it_says_where_and_shows_nothing_of_the_secret() -> None:
    text = "first line\nthen password = hunter2!x\nand AKIA" + "IOSFODNN7EXAMPLE"
    password, key = find(text)
    assert (password.line, password.column, password.masked) == (2, 17, "••••")
    assert text[password.start : password.end] == "hunter2!x"
    assert (key.line, key.column, key.masked) == (3, 5, "AKIA••••")
    assert find(PEM.format("", ""))[0].masked == "-----BEGIN PRIVATE KEY-----"
    assert TWELVE.split()[1] not in find(TWELVE)[0].masked


def test_the_same_place_is_told_once() -> None:
    assert len(find("password = ghp_" + drawn(36))) == 1


def test_a_confirmation_is_for_what_was_shown_and_for_nothing_else() -> None:
    shown = {"body": "password = hunter2!", "error": ""}
    assert mark_of(shown) == mark_of({"body": "See: password = hunter2!", "error": ""}) != ""
    assert mark_of(shown) != mark_of({"body": "password = hunter3!", "error": ""})
    assert mark_of(shown) != mark_of({"body": "", "error": "password = hunter2!"})
    assert mark_of({"body": "Hello"}) == ""


@pytest.mark.parametrize(
    "text",
    [
        "password ", "a", "[1,", "-----BEGIN PRIVATE KEY", "abandon ", "eyJ", "https://a:", "password=", "A1b2", ": ",
        "_Z", "a.b-", "bearer ", "-----BEGIN CERTIFICATE-----", "0-", "PuTTY-User-Key-File-1", "1, ", "private key ",
        "secret:", "xprv", "a_", "token ", "ssh-rsa AAAA",
    ],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    text = text * (30_000 // len(text))
    began = time.process_time()
    find(text)
    assert time.process_time() - began < 1.5
