"""The context compiler alone: plain values in, a prompt with a hard budget and a ledger out."""

from __future__ import annotations

from bedside.context import Block, Budget, Item, assemble, o200k

RULES = "Answer from the sources below. Cite every statement with its number."
ALLERGIES = "Penicillin: anaphylaxis (1996). Lisinopril: dry cough."
QUESTION = "Is metformin still safe?"
TOOLS = [{"name": "search", "input_schema": {"type": "object"}}]

my_tokenizer = o200k()  # any function from str to int will do

blocks = [
    Block("rules", RULES, zone="primacy", stability="static", protected=True, trust="ours"),
    Block("allergies", ALLERGIES, zone="primacy", stability="session", protected=True),
    Block(
        "labs",
        [
            Item("eGFR 38 mL/min/1.73m2, 2 Nov 2026", source="obs/77", date="2026-11-02"),
            Item("eGFR 46 mL/min/1.73m2, 12 May 2026", source="obs/61", date="2026-05-12"),
            Item("eGFR 58 mL/min/1.73m2, 12 Feb 2024", source="obs/12", date="2024-02-12"),
        ],
        zone="middle",
        priority=40,
        cap=120,
        shrink="drop_oldest",
    ),
    Block("question", QUESTION, zone="recency", protected=True, bookend=True),
]
budget = Budget(6_000, count=my_tokenizer, tools=TOOLS, margin=0.05)
assembly = assemble(blocks, budget=budget)  # BudgetTooSmall names the blocks

assert assembly.tokens <= assembly.limit
for block, key, tokens, why in assembly.dropped:  # what, how big, why
    print(f"{block}: {key} ({tokens} tokens): {why}")
anthropic = assembly.to_anthropic()  # system and messages, cache marks where they exist
openai = assembly.to_openai()  # messages
print([message["role"] for message in openai["messages"]])
