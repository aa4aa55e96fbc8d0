"""An invented customer of the bank, their accounts and cards as its tools print them, and calls on them."""

from __future__ import annotations

import json

from ledgeragent import ToolCall
from ledgeragent.types import Json

USER = "ada_1"
PROFILE = {
    "name": "Ada Lund",
    "user_id": USER,
    "address": "1 Elm Road, Boston, MA 02108",
    "email": "ada@example.org",
    "phone_number": "617-555-0100",
    "date_of_birth": "04/12/1990",
}
ACCOUNTS = """User accounts retrieved successfully.

Executed: get_all_user_accounts_by_user_id_3847
Accounts for user ada_1:

Bank Accounts:
Found 2 record(s) in 'accounts':

1. Record ID: chk_1
   account_id: chk_1
   user_id: ada_1
   class: checking
   level: Blue Account
   date_opened: 01/10/2024
   status: OPEN
   current_holdings: 1,250.50

2. Record ID: sav_1
   account_id: sav_1
   user_id: ada_1
   class: saving
   level: Silver Account
   date_opened: 02/10/2024
   status: OPEN
   current_holdings: 0


Credit Card Accounts:
  No credit card accounts found.
"""
CARDS = json.dumps(
    [
        {
            "card_id": "dbc_1",
            "account_id": "chk_1",
            "user_id": USER,
            "cardholder_name": "ADA LUND",
            "cvv": "739",
            "status": "ACTIVE",
            "expiration_date": "03/31/2028",
            "issue_reason": "new_account",
            "card_number_last_4": "4821",
            "date_issued": "03/20/2024",
        }
    ]
)
PERSON = "\n".join(
    (
        "Found 1 record(s) in 'users':\n",
        f"1. Record ID: {USER}",
        *(f"   {name}: {value}" for name, value in PROFILE.items()),
    )
)
TIME = "2025-11-14 03:40:00 EST"
VERIFIED = ToolCall(
    name="log_verification", arguments={**PROFILE, "time_verified": TIME}, id="verify"
)


def through(tool: str, **arguments: Json) -> ToolCall:
    outer = {"agent_tool_name": tool, "arguments": json.dumps(arguments)}
    return ToolCall(name="call_discoverable_agent_tool", arguments=outer, id=tool)
