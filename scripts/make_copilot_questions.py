"""Phrase the copilot's question set: hand-made patterns, seeded choice of patient.

    python scripts/make_copilot_questions.py FOLDER_OF_SYNTHEA_BUNDLES

Writes phrased.jsonl of the question set. A pattern is meant for some patients (those for whom the
record holds an answer, or for whom it holds none), and the choice among them is seeded. No value
of a record is copied: the gold of each question is an operation.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path

import yaml

from bedside.evals.copilot_chart import Chart, read_chart
from bedside.evals.copilot_gold import compute, select

SEED = 20_261
CAPITALS = 0.3
OUT = Path(__file__).parents[1] / "src/bedside/evals/copilot_questions/phrased.jsonl"

SAID = yaml.safe_load(Path(__file__).with_name("copilot_phrasings.yaml").read_text("utf-8"))


class Writer:
    """Holds the patients, the seeded choice, and what has been written."""

    def __init__(self, folder: Path) -> None:
        self.random = random.Random(SEED)
        self.charts = {
            path.name: read_chart(path)
            for path in sorted(folder.glob("*.json"))
            if not path.name.startswith("practitioner")
        }
        self.rows: list[dict[str, object]] = []
        self.seen: set[tuple[str, str]] = set()
        self.used: dict[str, int] = {}

    def patients(self, test) -> list[str]:
        names = [name for name, chart in self.charts.items() if test(chart)]
        self.random.shuffle(names)
        return sorted(names, key=lambda name: self.used.get(name, 0))

    def add(self, text: str, tags: str, kind: str, gold: dict, test, **words: object) -> bool:
        """One question on the least used patient for whom `test` holds; False when there is none."""
        for patient in self.patients(test):
            question = text.format(**_pronouns(self.charts[patient]), **words)
            if (patient, question.lower()) in self.seen:
                continue
            self.seen.add((patient, question.lower()))
            self.used[patient] = self.used.get(patient, 0) + 1
            computed = compute(gold, chart=self.charts[patient])
            kind_ = "absent" if computed.absent else kind
            found = list(dict.fromkeys(tag for tag in tags.split() if tag not in _NOT_TAGS))
            self.rows.append(
                {
                    "id": f"p-{len(self.rows) + 1:03d}",
                    "patient": patient,
                    "question": _capital(question, self.random),
                    "kind": kind_,
                    "tags": found,
                    "gold": gold,
                }
            )
            return True
        return False

    def save(self) -> None:
        with OUT.open("w", encoding="utf-8") as file:
            for row in self.rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        kinds = Counter(str(row["kind"]) for row in self.rows)
        print(len(self.rows), "questions over", len(self.used), "patients", dict(kinds))

    def named(self, entry: list[str]) -> tuple[str, str]:
        name, _, tag = self.random.choice(entry).partition("|")
        return name, tag


_NOT_TAGS = {"first", "last", "ever", ""}


def _pronouns(chart: Chart) -> dict[str, str]:
    if chart.patient["gender"] == "female":
        return {"they": "she", "their": "her", "them": "her"}
    return {"they": "he", "their": "his", "them": "him"}


def _capital(text: str, chance: random.Random) -> str:
    return text[0].upper() + text[1:] if chance.random() < CAPITALS else text


def _holds(gold: dict, least: int = 1):
    return lambda chart: len({entry.stamp for entry in select(gold, chart=chart)}) >= least


def _untied(gold: dict, least: int):
    """Twice entered at one moment, a reading could fairly be counted once or twice."""

    def test(chart: Chart) -> bool:
        found = select(gold, chart=chart)
        return len(found) >= least and len({entry.stamp for entry in found}) == len(found)

    return test


def _lacks(gold: dict):
    return lambda chart: not select(gold, chart=chart)


def analyte_family(
    w: Writer, kind: str, patterns, codes, total: int, *, least: int = 1, **extra
) -> None:
    made = 0
    for index in range(total * 3):
        if made >= total:
            return
        text, tags = patterns[index % len(patterns)]
        code = codes[w.random.randrange(len(codes))]
        name, tag = w.named(SAID["analytes"][code][0])
        gold = {"op": kind, "loinc": code, "about": SAID["analytes"][code][1], **extra}
        words: dict[str, object] = {"x": name}
        if "first" in tags.split() and kind == "when":
            gold["which"] = "first"
        if "{n}" in text:
            n = w.random.choice([2, 3, 4, 5])
            gold["last"], words["n"] = n, w.random.choice([str(n), _WORDS[n]])
        if "{year}" in text:
            year = w.random.randrange(2011, 2020)
            words["year"] = year
            gold |= {"since": f"{year}-01-01"} if "since" in text else {"year": year}
        test = _holds(gold, least)
        if kind == "count":
            test = _untied(gold, least)
        made += w.add(
            text, f"{tags} {tag} {'dated' if 'year' in words else ''}", kind, gold, test, **words
        )


_WORDS = {2: "two", 3: "three", 4: "four", 5: "five"}


def named_family(
    w: Writer,
    kind: str,
    patterns,
    things,
    total: int,
    *,
    resource,
    share: float,
    op: str = "has",
    **extra,
) -> None:
    """Yes-or-no (and when) families over named things; `share` of the patients have it."""
    made = 0
    for index in range(total * 4):
        if made >= total:
            return
        text, tags = patterns[index % len(patterns)]
        names, pattern, about = things[w.random.randrange(len(things))]
        name, tag = w.named(names)
        gold = {"op": op, "resource": resource, "text": pattern, "about": about, **extra}
        if "ever" in tags.split():
            gold["ever"] = True
        if op == "when":
            gold["which"] = "first" if "first" in tags.split() else "last"
        test = _holds(gold) if made < total * share else _lacks(gold)
        if not any(f"{word} {{x}}" in text for word in _TAKES_ARTICLE):
            name = name.removeprefix("a ").removeprefix("an ")
        made += w.add(text, f"{tags} {tag}", kind, gold, test, x=name)


_TAKES_ARTICLE = ("have", "had", "on", "take", "undergone", "record of")


def list_family(w: Writer, kind: str, patterns, gold: dict, total: int, *, test=None) -> None:
    for index in range(total):
        text, tags = patterns[index % len(patterns)]
        words: dict[str, object] = {}
        chosen = dict(gold)
        if "{year}" in text:
            words["year"] = chosen["year"] = w.random.randrange(2011, 2020)
        w.add(
            text,
            f"{tags} {'dated' if words else ''}",
            kind,
            chosen,
            test or _holds(chosen),
            **words,
        )


def thresholds(w: Writer, total: int, patterns, kind: str) -> None:
    made = 0
    for index in range(total * 4):
        if made >= total:
            return
        text, tags = patterns[index % len(patterns)]
        code = w.random.choice(list(SAID["thresholds"]))
        sign, bound = w.random.choice(SAID["thresholds"][code])
        name, tag = w.named(SAID["analytes"][code][0])
        gold = {
            "op": kind,
            "loinc": code,
            "cmp": sign,
            "value": bound,
            "about": SAID["analytes"][code][1],
        }
        wants = made % 2 == 0

        def test(chart: Chart, gold=gold, wants=wants) -> bool:
            found = compute({**gold, "op": "any"}, chart=chart)
            return not found.absent and (found.polarity == "yes") == wants

        if kind == "count":
            gold.pop("about")
        made += w.add(
            text,
            f"{tags} {tag}",
            kind,
            gold,
            test,
            x=name,
            over=w.random.choice(SAID["over"][sign]),
            v=bound,
        )


def doubles(w: Writer, total: int) -> None:
    for index in range(total):
        a, b = SAID["pair_codes"][index % len(SAID["pair_codes"])]
        text = SAID["pairs"][0][0][index % len(SAID["pairs"][0][0])]
        first, tag_a = w.named(SAID["analytes"][a][0])
        second, tag_b = w.named(SAID["analytes"][b][0])
        gold = {
            "op": "both",
            "of": [
                {"op": "latest", "loinc": a, "about": SAID["analytes"][a][1]},
                {"op": "latest", "loinc": b, "about": SAID["analytes"][b][1]},
            ],
        }

        def test(chart, gold=gold):
            return all(select(part, chart=chart) for part in gold["of"])

        w.add(text, f"two {tag_a} {tag_b}", "both", gold, test, a=first, b=second)
    meds = {"op": "list", "resource": "MedicationRequest", "status": "active"}
    problems = {"op": "list", "resource": "Condition", "status": "active"}
    allergies = {"op": "list", "resource": "AllergyIntolerance", "about": ["allerg"]}
    for text, parts in [
        ("meds and allergies", (meds, allergies)),
        ("current meds and problem list", (meds, problems)),
        ("allergies and active problems?", (allergies, problems)),
        ("what is {they} on and what is {they} allergic to?", (meds, allergies)),
        ("active problems and current medications please", (problems, meds)),
        ("problem list + allergies", (problems, allergies)),
    ]:
        gold = {"op": "both", "of": list(parts)}
        w.add(
            text,
            "two",
            "both",
            gold,
            lambda chart, parts=parts: all(select(part, chart=chart) for part in parts),
        )
        w.add(
            text,
            "two",
            "both",
            gold,
            lambda chart, parts=parts: (
                bool(select(parts[0], chart=chart)) != bool(select(parts[1], chart=chart))
            ),
        )
    for drug, pattern, analyte, level in SAID["levels"]:
        drug_given = {
            "op": "has",
            "resource": "MedicationRequest",
            "text": pattern,
            "about": [drug.removeprefix("a ")],
        }
        unmeasured = {
            "op": "absent",
            "resource": "Observation",
            "text": level,
            "about": [analyte.lower()],
        }
        gold = {"op": "both", "of": [drug_given, unmeasured]}
        text = f"is {{they}} on {drug} and what was the last {analyte}?"
        w.add(text, "two negative", "both", gold, _holds(drug_given))


def main(folder: Path) -> None:
    w = Writer(folder)
    ask_readings(w)
    ask_named(w)
    ask_lists(w)
    people(w)
    ask_empty(w)
    doubles(w, 26)
    w.save()


def ask_readings(w: Writer) -> None:
    analyte_family(w, "latest", SAID["latest"], SAID["common"], 62)
    analyte_family(w, "latest", SAID["latest"], SAID["rare"], 14)
    analyte_family(w, "first", SAID["first"], SAID["common"], 12, least=2)
    analyte_family(w, "previous", SAID["previous"], SAID["common"], 12, least=2)
    analyte_family(
        w,
        "highest",
        SAID["highest"],
        [c for c in SAID["common"] if c != "55284-4"],
        20,
        least=3,
    )
    analyte_family(
        w,
        "lowest",
        SAID["lowest"],
        [c for c in SAID["common"] if c != "55284-4"],
        14,
        least=3,
    )
    analyte_family(
        w,
        "average",
        SAID["average"],
        [c for c in SAID["common"] if c != "55284-4"],
        14,
        least=2,
    )
    analyte_family(w, "count", SAID["count"], SAID["common"], 12, least=2)
    analyte_family(w, "trend", SAID["trend"], SAID["common"], 34, least=3)
    analyte_family(w, "trend", SAID["since"], SAID["common"], 8, least=3)
    analyte_family(w, "readings", SAID["year"], SAID["common"], 16)
    analyte_family(w, "readings", SAID["lastn"], SAID["common"], 12, least=5)
    analyte_family(w, "readings", SAID["all"], SAID["common"], 6, least=3)
    analyte_family(w, "change", SAID["change"], SAID["common"], 12, least=2)
    analyte_family(
        w, "change", SAID["change_first"], SAID["common"], 6, least=3, **{"from": "first"}
    )
    analyte_family(w, "when", SAID["measured"], SAID["common"] + SAID["rare"], 20)
    thresholds(w, 36, SAID["any"], "any")
    thresholds(w, 8, SAID["howmany_over"], "count")
    never_measured(w, 34)


def ask_named(w: Writer) -> None:
    named_family(w, "has", SAID["has"], SAID["problems"], 52, resource="Condition", share=0.55)
    named_family(
        w,
        "has",
        SAID["ever"],
        SAID["had"],
        20,
        resource="Condition",
        share=0.55,
        ever=True,
    )
    named_family(
        w,
        "has",
        SAID["on"],
        SAID["medicines"],
        34,
        resource="MedicationRequest",
        share=0.55,
    )
    named_family(
        w,
        "has",
        SAID["on_ever"],
        SAID["medicines"],
        12,
        resource="MedicationRequest",
        share=0.5,
        ever=True,
    )
    named_family(
        w,
        "has",
        SAID["allergic"],
        SAID["allergens"],
        16,
        resource="AllergyIntolerance",
        share=0.5,
    )
    named_family(
        w,
        "has",
        SAID["vaccinated"],
        SAID["vaccines"],
        14,
        resource="Immunization",
        share=0.6,
    )
    named_family(
        w,
        "has",
        SAID["undergone"],
        SAID["procedures"],
        22,
        resource=SAID["imaging"],
        share=0.5,
    )
    named_family(
        w,
        "when",
        SAID["vaccine_when"],
        SAID["vaccines"][:8],
        8,
        resource="Immunization",
        share=1,
        op="when",
    )
    named_family(
        w,
        "when",
        SAID["done_when"],
        SAID["procedures"][:7],
        8,
        resource=SAID["imaging"],
        share=1,
        op="when",
    )
    named_family(
        w,
        "when",
        SAID["started"],
        SAID["medicines"][:21],
        12,
        resource="MedicationRequest",
        share=1,
        op="when",
    )
    named_family(
        w,
        "when",
        SAID["diagnosed"],
        SAID["problems"][:20],
        12,
        resource="Condition",
        share=1,
        op="when",
    )
    named_family(
        w,
        "count",
        SAID["condition_count"],
        SAID["had"],
        8,
        resource="Condition",
        share=1,
        op="count",
    )
    named_family(
        w,
        "count",
        SAID["vaccine_count"],
        SAID["vaccines"][:2],
        4,
        resource="Immunization",
        share=1,
        op="count",
    )
    named_family(
        w,
        "count",
        SAID["procedure_count"],
        SAID["procedures"][:1],
        3,
        resource="Procedure",
        share=1,
        op="count",
    )


def ask_lists(w: Writer) -> None:
    active = {"op": "list", "resource": "MedicationRequest", "status": "active"}
    list_family(w, "list", SAID["med_list"], active, 18)
    list_family(w, "list", SAID["med_list"], active, 4, test=_lacks(active))
    list_family(w, "list", SAID["stopped_list"], active | {"status": "ended"}, 6)
    problems = {"op": "list", "resource": "Condition", "status": "active"}
    list_family(w, "list", SAID["problem_list"], problems, 14)
    list_family(w, "list", SAID["resolved_list"], problems | {"status": "ended"}, 5)
    allergies = {"op": "list", "resource": "AllergyIntolerance", "about": ["allerg", "nkda"]}
    list_family(w, "list", SAID["allergy_list"], allergies, 8)
    list_family(w, "list", SAID["allergy_list"], allergies, 9, test=_lacks(allergies))
    list_family(w, "list", SAID["vaccine_list"], {"op": "list", "resource": "Immunization"}, 8)
    list_family(w, "list", SAID["procedure_list"], {"op": "list", "resource": "Procedure"}, 8)
    visits = {"op": "list", "resource": "Encounter", "by": "day"}
    list_family(w, "list", SAID["visits_year"], visits, 8)
    list_family(w, "count", SAID["visits_count"], {"op": "count", "resource": "Encounter"}, 5)
    list_family(w, "when", SAID["last_seen"], {"op": "when", "resource": "Encounter"}, 6)
    list_family(
        w,
        "when",
        SAID["last_admission"],
        {"op": "when", "resource": "Encounter", "group": "IMP"},
        5,
    )
    list_family(
        w,
        "count",
        SAID["er_count"],
        {"op": "count", "resource": "Encounter", "group": "EMER"},
        4,
    )
    list_family(
        w, "when", SAID["er_last"], {"op": "when", "resource": "Encounter", "group": "EMER"}, 3
    )
    list_family(
        w,
        "list",
        SAID["careplans"],
        {"op": "list", "resource": "CarePlan", "status": "active"},
        5,
    )
    list_family(w, "list", SAID["reports"], {"op": "list", "resource": "DiagnosticReport"}, 4)
    smoking = {"op": "latest", "loinc": "72166-2"}
    list_family(w, "latest", SAID["smoker"], smoking, 8)


def ask_empty(w: Writer) -> None:
    for patterns, resource, about in [
        (SAID["documents"], "DocumentReference", ["document", "letter", "summar", "scan"]),
        (SAID["orders"], "ServiceRequest", ["order", "referral", "request"]),
        (SAID["alerts"], "Flag", ["alert", "flag", "warning"]),
    ]:
        gold = {"op": "absent", "resource": resource, "about": about}
        list_family(w, "absent", patterns, gold, 7, test=_lacks(gold))


def never_measured(w: Writer, total: int) -> None:
    """Analytes that this patient never had: some of no record here, some of other patients'."""
    patterns = SAID["latest"] + SAID["trend"][:3] + SAID["highest"][:2] + SAID["measured"][:3]
    for index in range(total):
        text, tags = patterns[(index * 5) % len(patterns)]
        if index % 3:
            names, pattern, about = SAID["never"][index % len(SAID["never"])]
            name, tag = w.named(names)
            gold = {
                "op": "absent",
                "resource": ["Observation", "Procedure"],
                "text": pattern,
                "about": about,
            }
        else:
            code = w.random.choice(
                [
                    "4548-4",
                    "38483-4",
                    "1742-6",
                    "19926-5",
                    "14959-1",
                    "10230-1",
                    "72106-8",
                    "6298-4",
                    "1751-7",
                ]
            )
            name, tag = w.named(SAID["analytes"][code][0])
            gold = {"op": "absent", "loinc": code, "about": SAID["analytes"][code][1]}
        w.add(text, f"{tags} {tag} negative", "absent", gold, _lacks(gold), x=name)


def people(w: Writer) -> None:
    def everyone(_):
        return True

    def dead(chart):
        return "deceasedDateTime" in chart.patient

    for patterns, field, total, test in [
        (SAID["age"], "age", 6, everyone),
        (SAID["birth"], "birth_date", 6, everyone),
        (SAID["sex"], "sex", 5, everyone),
        (SAID["name"], "name", 3, everyone),
        (SAID["address"], "address", 3, everyone),
        (SAID["died"], "deceased", 4, dead),
        (SAID["alive"], "deceased", 2, lambda chart: not dead(chart)),
    ]:
        list_family(
            w, "demographic", patterns, {"op": "demographic", "field": field}, total, test=test
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
