"""What is read from the environment."""

from pathlib import Path

import pytest

from config.env import Environment


def test_an_empty_value_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """docker-compose.yml sets FIXED_RATES to nothing unless its operator says something: the demo has prices then."""
    for name in ("FIXED_RATES", "WATCH_SECONDS", "BRAND", "DATABASE_URL", "SECRET_KEY"):
        monkeypatch.setenv(name, "")
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("SECRET_KEY_FILE", str(tmp_path / "key"))
    env = Environment()
    assert env.dict("FIXED_RATES", default={"ETH": "3000"}) == {"ETH": "3000"}
    assert env.float("WATCH_SECONDS", default=1.0) == 1.0
    assert env.str("BRAND", default="Gridlot") == "Gridlot"
    assert env.database("DATABASE_URL", file=tmp_path / "db")["NAME"] == str(tmp_path / "db")
    assert env.str("SECRET_KEY", default="") == "from a file"
