"""Plays conversations at the parking office into a file, a line each: `python play.py runs.jsonl 30`.

No model takes part: the clerk follows the office's rules most of the time, and the office's system
refuses some of what it should not do. The people and permits are invented.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Record = dict[str, Any]
ZONES = ("A", "B", "C")


class Office:
    """The office's system: its records, and the tools that read and change them."""

    def __init__(self, residents: int, chance: random.Random) -> None:
        self.chance = chance
        self.zones = {zone: {"zone": zone, "free": 40} for zone in ZONES}
        self.residents: dict[str, Record] = {}
        self.permits: dict[str, Record] = {}
        self.fines: dict[str, Record] = {}
        for number in range(1, residents + 1):
            self._move_in(number)

    def _move_in(self, number: int) -> None:
        resident, zone = f"R-{100 + number}", self.chance.choice(ZONES)
        self.residents[resident] = {
            "resident_id": resident,
            "name": f"Resident {number}",
            "home_zone": zone,
            "waivers_this_year": 0,
        }
        self.permits[f"P-{500 + number}"] = {
            "permit_id": f"P-{500 + number}",
            "resident_id": resident,
            "zone": zone,
            "status": self.chance.choice(("active", "active", "active", "suspended", "expired")),
            "valid_until": f"2025-0{self.chance.randint(3, 9)}-01",
        }
        for fine in range(self.chance.randint(1, 2)):
            self.fines[f"F-{number}{fine}"] = {
                "fine_id": f"F-{number}{fine}",
                "resident_id": resident,
                "amount": self.chance.choice((20.0, 35.5, 60.0)),
                "issued_on": f"2025-02-{self.chance.randint(10, 28)}",
                "status": self.chance.choice(("unpaid", "paid")),
            }

    def find_resident(self, email: str) -> Record:
        """The resident with this address."""
        number = int(email.partition("@")[0].removeprefix("resident"))
        return {"resident_id": f"R-{100 + number}"}

    def get_resident(self, resident_id: str) -> Record:
        """A resident."""
        return self.residents[resident_id]

    def get_permit(self, permit_id: str) -> Record:
        """A permit."""
        return self.permits[permit_id]

    def get_zone(self, zone: str) -> Record:
        """A zone with its free places."""
        return self.zones[zone]

    def list_fines(self, resident_id: str) -> list[Record]:
        """The fines of a resident."""
        return [fine for fine in self.fines.values() if fine["resident_id"] == resident_id]

    def renew_permit(self, permit_id: str, months: int) -> Record:
        """The permit, valid for longer."""
        permit = self.permits[permit_id]
        if permit["status"] == "suspended":
            raise ValueError("a suspended permit is not renewed")
        year = 2025 + months // 12
        permit.update(status="active", valid_until=f"{year}-{self.chance.randint(10, 12)}-01")
        return permit

    def move_permit(self, permit_id: str, zone: str) -> str:
        """Moves a permit to a zone with a free place."""
        if not self.zones[zone]["free"]:
            raise ValueError("the zone is full")
        self.permits[permit_id]["zone"] = zone
        self.zones[zone]["free"] -= 1
        return "moved"

    def waive_fine(self, fine_id: str, resident_id: str) -> str:
        """Waives a fine."""
        if self.fines[fine_id]["status"] != "unpaid":
            raise ValueError("only an unpaid fine can be waived")
        self.fines[fine_id]["status"] = "waived"
        self.residents[resident_id]["waivers_this_year"] += 1
        return "waived"

    def hand_over(self, summary: str) -> str:
        """Hands the conversation over to a colleague."""
        return "handed over"


class Conversation:
    """One conversation in the form of OpenAI's chat, with the tools as they answer."""

    def __init__(self, office: Office, request: str) -> None:
        self.office = office
        self.messages: list[Record] = [{"role": "user", "content": request}]

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers; its failure is written down, and None is returned."""
        name = f"call_{len(self.messages)}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        calls = [{"id": name, "type": "function", "function": function}]
        self.messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        answering: Callable[..., Any] = getattr(self.office, tool)
        value = None
        try:
            value = json.loads(json.dumps(answering(**arguments)))
            text = value if isinstance(value, str) else json.dumps(value)
        except ValueError as problem:
            text = f"Error: {problem}"
        self.messages.append({"role": "tool", "tool_call_id": name, "content": text})
        return value


def played(office: Office, number: int) -> list[Record]:
    """The messages of the conversation with one resident."""
    chance, email = office.chance, f"resident{number}@example.com"
    talk = Conversation(office, f"Hello, I am {email}. {('Renew', 'Move', 'Waive')[number % 3]}!")
    wish = talk.messages[0]["content"].rpartition(" ")[2]
    resident = talk.call("find_resident", email=email)["resident_id"]
    permit = talk.call("get_permit", permit_id=f"P-{500 + number}")
    fines = talk.call("list_fines", resident_id=resident)
    unpaid = [fine for fine in fines if fine["status"] == "unpaid"]
    if wish == "Renew!" and (permit["status"] != "suspended" or chance.random() < 0.9):
        talk.call("renew_permit", permit_id=permit["permit_id"], months=chance.choice((3, 6, 12)))
    elif wish == "Move!":
        zone = chance.choice([zone for zone in ZONES if zone != permit["zone"]])
        talk.call("get_zone", zone=zone)
        talk.call("move_permit", permit_id=permit["permit_id"], zone=zone)
        if chance.random() < 0.5:
            talk.call("get_permit", permit_id=permit["permit_id"])
            talk.call("get_zone", zone=zone)
    elif wish == "Waive!" and (unpaid or chance.random() < 0.5):
        talk.call("get_resident", resident_id=resident)
        fine = (unpaid or fines)[0]["fine_id"]
        talk.call("waive_fine", fine_id=fine, resident_id=resident)
        if chance.random() < 0.5:
            talk.call("list_fines", resident_id=resident)
            talk.call("get_resident", resident_id=resident)
    else:
        talk.call("hand_over", summary=f"{resident} asks for something that I may not do")
    talk.messages.append({"role": "assistant", "content": "Is there anything else?"})
    return talk.messages


def main() -> None:
    """Writes as many conversations as the command line says into the file that it names."""
    file, count = Path(sys.argv[1]), int(sys.argv[2])
    office = Office(count, random.Random(7))
    dialogues = [{"messages": played(office, number)} for number in range(1, count + 1)]
    file.write_text("".join(f"{json.dumps(dialogue)}\n" for dialogue in dialogues))
    print(f"wrote {count} conversations to {file}")


if __name__ == "__main__":
    main()
