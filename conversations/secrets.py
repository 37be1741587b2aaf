"""Find what looks like a secret in a text, before it is sent (ORD-12). Pure: text in, findings out.

A false alarm costs a click, a miss may cost a machine or a wallet; but whoever is asked at every traceback stops
reading the question. So hashes, transactions, addresses, public keys and fingerprints must not alarm: they are what
people paste when they ask for help.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

WORDS = Path(__file__).parent / "data" / "bip39_english.txt"


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of a text that looks like a secret: what it looks like, and where (both counted from 1)."""

    code: str
    start: int
    end: int
    line: int
    column: int
    masked: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """What one kind of secret looks like. The group `secret`, if there is one, is the part that counts."""

    code: str
    expression: re.Pattern[str]


def pattern(code: str, expression: str, flags: int = 0) -> Pattern:
    return Pattern(code, re.compile(expression, flags))


# Not preceded and not followed by what would make it part of something longer.
A, Z = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
END = r"-----END [^-\n]{1,60}-----"

# Looked at in this order; what one has found, the later ones don't see.
TABLE = (
    pattern(
        "private_key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [^-\n]{1,60}-----|\Z)",
        re.S,
    ),
    pattern("private_key", r"PuTTY-User-Key-File-\d.*\Z", re.S),
    pattern("private_key", A + r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{20,}"),  # an OpenSSH key without its first line
    pattern("private_key", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    pattern("wallet_key", A + r"[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{90,112}" + Z),
    pattern("wallet_key", A + r"(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLTc][1-9A-HJ-NP-Za-km-z]{51})" + Z),
    pattern("wallet_key", r"\[\s*(?:(?:25[0-5]|2[0-4]\d|1?\d{1,2})\s*,\s*){63}\d{1,3}\s*\]"),  # Solana's id.json
    pattern("wallet_key", r"(?i)private[ _-]?key\W{1,6}(?P<secret>(?:0x)?[0-9a-f]{64})" + Z),
    pattern("aws", A + r"(?:AKIA|ASIA)[0-9A-Z]{16}" + Z),
    pattern("aws", r"(?i)aws_?secret_?(?:access_?)?key\W{1,6}(?P<secret>[A-Za-z0-9/+]{40})"),
    pattern("github", A + r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})" + Z),
    pattern("gitlab", A + r"glpat-[A-Za-z0-9_-]{20,}"),
    pattern("hugging_face", A + r"(?:hf|api_org)_[A-Za-z0-9]{30,}" + Z),
    pattern("model_key", A + r"sk-(?:[a-z]{2,8}-)?[A-Za-z0-9_-]{20,}"),  # OpenAI, Anthropic and others that copy them
    pattern("slack", A + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    pattern("slack", r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    pattern("google", A + r"(?:AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,})"),
    pattern("stripe", A + r"(?:sk|rk|whsec)_(?:live|test)?_?[0-9A-Za-z]{24,}" + Z),
    pattern("telegram", A + r"\d{8,10}:AA[0-9A-Za-z_-]{33}" + Z),
    pattern("package_index", A + r"(?:npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{30,})"),
    pattern("own_token", A + r"gridlot_[A-Za-z0-9_-]{40,}"),
    pattern("recovery_code", A + r"(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}(?![A-Za-z0-9-])"),
    pattern("jwt", A + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    pattern("login", r"(?i)\b(?:bearer|basic)\s{1,3}(?P<secret>[A-Za-z0-9._~+/-]{20,}=*)"),
    pattern("login", r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,80}:(?P<secret>[^\s/@]{3,200})@"),
)

NAMES = (
    r"(?:[A-Za-z0-9_-]{0,40}(?:passw(?:or)?d|passwd|passphrase|secret(?:[_-]?key)?|api[_-]?key|access[_-]?key"
    r"|(?:api|auth|access|refresh|bot|hub|hf|github|gitlab|wandb|session)[_-]?token)"
    r"|pwd|pass|token|HF_TOKEN|пароль\w{0,3}|hasło|mật khẩu|contraseña|passwort|mot de passe)"
)
ASSIGNMENT = re.compile(
    rf"(?i)(?<![A-Za-z0-9_])(?P<name>{NAMES})[\"']?\s{{0,3}}(?P<sign>[=:]|\bis\b)\s{{0,3}}(?P<secret>[^\n]{{1,200}})"
)
# What stands where a secret would, and is none.
PLACEHOLDER = re.compile(
    r"(?i)(?:none|null|nil|true|false|str|string|bool|int|bytes|any|optional|yes|no|on|off|x{3,}|\*{2,}.*|•{2,}.*|\.{2,}"
    r"|<.*|\$.*|%.*|\{.*|\[.*|\(.*|your?[_ -].*|my[_-]?(?:password|token|secret|key)|changeme|password|passwd|secret"
    r"|token|redacted|removed|hidden|example|placeholder|[a-z_][\w.]*[(\[].*|os\.\w.*|self\.\w.*|[\"']?\s*[,;)\]}].*)"
)
# Parts that only look random.
HARMLESS = re.compile(
    r"-----BEGIN (?:CERTIFICATE|[A-Z0-9 ]{0,20}PUBLIC KEY)-----.*?-----END [^-\n]{1,60}-----"
    r"|\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S{1,30}|sk-\S{1,40}@openssh\.com)\s+AAAA[A-Za-z0-9+/=]{20,}"
    r"|\bAAAA[BCE][A-Za-z0-9+/=]{40,}"  # a public key without its kind
    r"|\bSHA256:[A-Za-z0-9+/]{43}=?|\bsha(?:256|384|512)-[A-Za-z0-9+/]{40,}={0,2}"
    r"|\b_Z[A-Za-z0-9_]{4,}"  # a C++ name in a stack
    r"|\b[A-Za-z0-9_.+-]{1,200}\.(?:whl|so|cu|cuh|cpp|py|h|tar|gz|safetensors|bin|gguf)\b",
    re.S,
)
CANDIDATE = re.compile(r"[A-Za-z0-9+_-]{32,}")
HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
BASE58 = re.compile(r"[1-9A-HJ-NP-Za-km-z]+")
WORD = re.compile(r"[A-Za-z]{1,20}")
BETWEEN_WORDS = re.compile(r"[\s,;.:|\"'\[\]()\d-]{1,12}")
MIXED = re.compile(r"[A-Za-z].*[0-9]|[0-9].*[A-Za-z]|[^\w\s.,:/-]")  # letters and digits, or a sign
PHRASE = 12  # the shortest recovery phrase in use


def find(text: str) -> list[Finding]:
    """Return what looks like a secret, in the order in which it stands."""
    lines = [0, *(match.end() for match in re.finditer(r"\n", text))]
    found, rest = [], text
    for code, start, end in spans(text):
        if not rest[start:end].strip("\x00"):
            continue
        rest = rest[:start] + "\x00" * (end - start) + rest[end:]
        line = sum(begin <= start for begin in lines)
        masked = mask(code, text[start:end])
        found.append(Finding(code, start, end, line, start - lines[line - 1] + 1, masked))
    return sorted(found, key=lambda finding: finding.start)


def find_in(texts: Mapping[str, str]) -> list[tuple[str, Finding]]:
    """Return (name of the field, finding) for every field of a form."""
    return [(name, finding) for name, text in texts.items() for finding in find(text)]


def mark_of(texts: Mapping[str, str]) -> str:
    """Return a mark of exactly what was found: who confirms it has not confirmed another secret."""
    parts = [f"{name}\x00{texts[name][one.start : one.end]}" for name, one in find_in(texts)]
    return hashlib.sha256("\x01".join(parts).encode()).hexdigest() if parts else ""


def spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield code, start and end of every part that a table or rule knows; parts may overlap."""
    for known in TABLE:
        for match in known.expression.finditer(text):
            start, end = match.span("secret" if "secret" in known.expression.groupindex else 0)
            if not (known.code == "login" and PLACEHOLDER.fullmatch(text[start:end])):
                yield known.code, start, end
    yield from phrases(text)
    quiet = HARMLESS.sub(lambda match: " " * len(match[0]), text)
    yield from assignments(quiet)
    yield from random_parts(quiet)


def mask(code: str, secret: str) -> str:
    """Return a few characters by which its owner knows it, and nothing that helps anybody else."""
    if code == "private_key":
        return secret.splitlines()[0][:60]
    if code == "phrase":
        return f"{secret.split()[0]} …"
    return f"{secret[:4] if len(secret) >= 20 and code != 'password' else ''}••••"


@cache
def phrase_words() -> frozenset[str]:
    return frozenset(WORDS.read_text(encoding="ascii").split())


def phrases(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield runs of at least twelve words of the list of recovery phrases; numbers and commas may stand between."""
    run: list[re.Match[str]] = []
    for word in WORD.finditer(text):
        joined = not run or BETWEEN_WORDS.fullmatch(text, run[-1].end(), word.start())
        known = word[0].lower() in phrase_words()
        if run and not (joined and known):
            yield from whole(run)
            run = []
        if known:
            run.append(word)
    yield from whole(run)


def whole(run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    if len(run) >= PHRASE and len({word[0] for word in run}) > PHRASE // 2:
        yield "phrase", run[0].start(), run[-1].end()


def assignments(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield what is given as a password or key: `password = …`, `token: …`."""
    for match in ASSIGNMENT.finditer(text):
        value = first_value(match["secret"])
        if value and is_given(value, rest=match["secret"], sign=match["sign"], name=match["name"].lower()):
            start = match.start("secret") + match["secret"].index(value)
            yield "password", start, start + len(value)


def first_value(rest: str) -> str:
    """Return what stands first in the rest of a line: what the quotes hold, or the first word."""
    quoted = re.match(r"[\"'`]([^\"'`]*)[\"'`]", rest)
    return quoted[1] if quoted else re.split(r"[\s,;&]", rest, maxsplit=1)[0].rstrip(".!?)\"'`")


def is_given(value: str, *, rest: str, sign: str, name: str) -> bool:
    """Tell whether a value is a secret rather than a word, a placeholder or a piece of code."""
    if len(value) < 4 or PLACEHOLDER.fullmatch(value):
        return False
    mixed = bool(re.search(r"[A-Za-z]", value) and re.search(r"[0-9]", value)) or bool(
        re.search(r"[^\w\s.,:/-]", value)
    )
    if name in ("token", "pass"):  # words of every tokenizer and every test run
        return mixed and len(value) >= 16 and not is_known(value)
    if sign != "=" or " " in rest.strip(" \"'`"):  # prose: "my password: how do I reset it", "the secret is that …"
        return mixed or (sign == ":" and rest.strip(" \"'`.,;") == value)
    return True


def random_parts(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield long parts in which letters and digits change as if drawn by lot."""
    for match in CANDIDATE.finditer(text):
        if looks_drawn(match[0]):
            yield "random", match.start(), match.end()


def is_known(part: str) -> bool:
    """Tell whether a part has the shape of a hash, a transaction, an address or a UUID."""
    plain = part.replace("-", "")
    return bool(HEX.fullmatch(plain) or BASE58.fullmatch(part))


def looks_drawn(part: str) -> bool:
    if is_known(part):
        return False
    kinds = [kind_of(character) for character in part if character.isalnum()]
    share = {kind: kinds.count(kind) / len(kinds) for kind in "lud"}
    if len(kinds) < 28 or share["l"] < 0.15 or share["u"] < 0.15 or kinds.count("d") < 2:
        return False
    changes = sum(before != after for before, after in pairwise(kinds)) / (len(kinds) - 1)
    return changes >= 0.42


def kind_of(character: str) -> str:
    return "d" if character.isdigit() else "u" if character.isupper() else "l"
