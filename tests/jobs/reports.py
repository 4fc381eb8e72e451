"""Medical reports made by program, with what each of them states known from the making.

`reports(seed)` gives them as blocks; `report_files.py` makes files of them. Gold is written down where
the words are written, from the same numbers; nothing of the reader is used here.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Report:
    """`gold` maps a finding to (value, unit), unit `None` for words and sides."""

    name: str
    contract: str
    type: str
    blocks: tuple[tuple[str, Any], ...]
    gold: dict[str, tuple[Any, str | None]] = field(default_factory=dict)


SIDES = ("left", "right", "both")
HEADERS = (
    ("CITY IMAGING CENTRE", "12 Harbour Road"),
    ("St. Anne Diagnostic Services", "Department of Radiology"),
    ("Lakeview Hospital", "Patient report"),
)


def _head(rng: random.Random) -> list[tuple[str, Any]]:
    title, under = rng.choice(HEADERS)
    day = f"{rng.randint(1, 28)} March 2026"
    return [
        ("line", title),
        ("line", under),
        (
            "line",
            f"Patient ID: {rng.randint(100000, 999999)}    Age/Sex: {rng.randint(40, 79)}/F    Date: {day}",
        ),
    ]


def _tail(rng: random.Random) -> list[tuple[str, Any]]:
    return [
        (
            "line",
            rng.choice(
                [
                    "Reported by: Dr. A. Example, MD",
                    "Electronically signed, consultant",
                    "Dr. M. Sample",
                ]
            ),
        )
    ]


KL = (
    ("grade 2", 2),
    ("grade III", 3),
    ("grade 4", 4),
    ("grade 3-4", "3-4"),
    ("Grade II", 2),
    (None, None),
)


def knee(rng: random.Random, n: int) -> Report:
    side = SIDES[n % 3]
    said = {"left": "LEFT KNEE", "right": "RIGHT KNEE", "both": "BOTH KNEES"}[side]
    words, grade = KL[n % len(KL)]
    gold: dict[str, tuple[Any, str | None]] = {"side": (side, None)}
    lines = []
    joint = rng.choice(
        [
            "There is marked narrowing of the medial joint space.",
            "Moderate joint space narrowing is seen in the medial compartment.",
        ]
    )
    lines.append(joint)
    gold["joint_space"] = (joint, None)
    if n % 2:
        width = rng.choice([1.8, 2.4, 0.9])
        lines.append(f"The joint space width is {width} mm medially.")
        gold["joint_space_mm"] = (width, "mm")
    osteo = rng.choice(["Marginal osteophytes are present.", "Small tibial osteophytes are noted."])
    lines.append(osteo)
    gold["osteophytes"] = (osteo, None)
    align = rng.choice(["Mild varus alignment.", "Alignment is maintained."])
    lines.append(align)
    gold["alignment"] = (align, None)
    broken = rng.choice(["No fracture or dislocation.", "No acute fracture is seen."])
    lines.append(broken)
    gold["fracture"] = (broken, None)
    if words:
        lines.append(f"Changes correspond to Kellgren-Lawrence {words}.")
        gold["kellgren_lawrence"] = (grade, "")
    impression = rng.choice(
        [
            "Tricompartmental osteoarthritis, worst medially.",
            "Advanced medial compartment osteoarthritis.",
        ]
    )
    gold["impression"] = (impression, None)
    style = n % 2
    blocks = _head(rng)
    blocks += (
        [("title", f"X-RAY {said} AP AND LATERAL")]
        if style
        else [("line", f"Examination: Radiograph of the {said.lower()}, standing views")]
    )
    blocks += [("title", "FINDINGS") if style else ("line", "Findings:"), ("para", " ".join(lines))]
    blocks += (
        [("title", "IMPRESSION"), ("para", impression)]
        if style
        else [("line", f"Impression: {impression}")]
    )
    return Report(
        name=f"knee{n}",
        contract="TKR",
        type="knee_xray",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def hip(rng: random.Random, n: int) -> Report:
    side = SIDES[n % 2]
    joint = f"Severe narrowing of the superior joint space on the {side}."
    broken = "No fracture of the femoral neck."
    impression = f"Advanced osteoarthritis of the {side} hip."
    blocks = _head(rng)
    blocks += [
        ("title", f"X-RAY PELVIS AP AND {side.upper()} HIP LATERAL"),
        ("title", "FINDINGS"),
        ("para", f"{joint} Subchondral cysts and osteophytes. {broken}"),
        ("title", "CONCLUSION"),
        ("para", impression),
    ]
    return Report(
        name=f"hip{n}",
        contract="THR",
        type="hip_xray",
        blocks=tuple(blocks + _tail(rng)),
        gold={
            "side": (side, None),
            "joint_space": (joint, None),
            "fracture": (broken, None),
            "impression": (impression, None),
        },
    )


# name, printed, finding, (US unit, low, high, values), (SI unit, low, high, values)
ANALYTES = (
    (
        "Haemoglobin",
        "Hemoglobin",
        "hemoglobin",
        ("g/dL", 12.0, 15.5, (10.9, 13.2, 14.1)),
        ("g/L", 120, 155, (109, 132, 141)),
    ),
    (
        "White cell count",
        "WBC",
        "white_cells",
        ("10^3/uL", 4.0, 11.0, (5.6, 7.31, 12.4)),
        ("10^9/L", 4.0, 11.0, (5.6, 7.3, 12.4)),
    ),
    (
        "Platelet count",
        "Platelets",
        "platelets",
        ("10^3/uL", 150, 400, (188, 251, 402)),
        ("10^9/L", 150, 400, (188, 251, 402)),
    ),
    (
        "Creatinine",
        "Creatinine, serum",
        "creatinine",
        ("mg/dL", 0.5, 1.1, (0.8, 1.04, 1.6)),
        ("umol/L", 45, 90, (71, 92, 141)),
    ),
    (
        "Sodium",
        "Sodium",
        "sodium",
        ("mEq/L", 135, 145, (138, 141, 129)),
        ("mmol/L", 135, 145, (138, 141, 129)),
    ),
    (
        "Potassium",
        "Potassium",
        "potassium",
        ("mEq/L", 3.5, 5.1, (4.1, 4.6, 5.4)),
        ("mmol/L", 3.5, 5.1, (4.1, 4.6, 5.4)),
    ),
    (
        "HbA1c",
        "Hemoglobin A1c",
        "hba1c",
        ("%", 4.0, 5.6, (5.4, 7.2, 8.1)),
        ("mmol/mol", 20, 42, (36, 55, 65)),
    ),
    (
        "CRP",
        "C-reactive protein",
        "crp",
        ("mg/L", 0, 5, (1.2, 3.4, 18)),
        ("mg/L", 0, 5, (1.2, 3.4, 18)),
    ),
)


def blood(rng: random.Random, n: int) -> Report:
    si = n % 2
    chosen = (
        list(ANALYTES)
        if n % 3
        else [a for a in ANALYTES if rng.random() < 0.75 or a[2] in ("hemoglobin", "creatinine")]
    )
    rng.shuffle(chosen)
    rows, gold = [], {}
    for brit, amer, finding, us, metric in chosen:
        unit, low, high, values = metric if si else us
        value = rng.choice(values)
        name = brit if si else amer
        if rng.random() < 0.06 and finding not in ("hemoglobin", "creatinine"):
            rows.append([name, "pending", unit, f"{low} - {high}"])
            continue
        flag = " H" if value > high else " L" if value < low else ""
        rows.append([name, f"{value}{flag}", unit, f"{low} - {high}"])
        gold[finding] = (value, unit)
    distractors = [
        ["Mean corpuscular haemoglobin", "29.4", "pg", "27 - 33"],
        ["Fasting glucose", "98", "mg/dL", "70 - 100"],
        ["Urine creatinine", "110", "mg/dL", ""],
    ]
    rows += [row for row in distractors if rng.random() < 0.6]
    blocks = [
        *_head(rng),
        ("title", rng.choice(["LABORATORY REPORT", "HAEMATOLOGY AND BIOCHEMISTRY", "Blood tests"])),
    ]
    layout = n % 4
    if layout == 0:
        blocks.append(("table", [["Test", "Result", "Unit", "Reference range"], *rows]))
    elif layout == 1:  # two columns side by side
        half = (len(rows) + 1) // 2
        wide = []
        for k in range(half):
            right = rows[half + k] if half + k < len(rows) else ["", "", "", ""]
            wide.append(
                [
                    rows[k][0],
                    f"{rows[k][1]} {rows[k][2]}",
                    rows[k][3],
                    right[0],
                    f"{right[1]} {right[2]}".strip(),
                    right[3],
                ]
            )
        blocks.append(("table", [["Test", "Result", "Ref.", "Test", "Result", "Ref."], *wide]))
    elif layout == 2:  # the reference before the result
        blocks.append(
            (
                "table",
                [
                    ["Test", "Reference", "Result", "Unit"],
                    *[[r[0], f"({r[3]})" if r[3] else "", r[1], r[2]] for r in rows],
                ],
            )
        )
    else:
        blocks += [
            ("line", f"{r[0]}: {r[1]} {r[2]}  [{r[3]}]" if r[3] else f"{r[0]}: {r[1]} {r[2]}")
            for r in rows
        ]
    return Report(
        name=f"blood{n}",
        contract=("TKR", "THR", "CABG")[n % 3],
        type="bloodwork_recent",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def hormones(rng: random.Random, n: int) -> Report:
    si = n % 2
    amh, fsh, lh, e2 = (
        rng.choice([0.8, 2.35, 4.1]),
        rng.choice([5.2, 8.9, 12.4]),
        rng.choice([3.1, 6.7]),
        rng.choice([38, 52]),
    )
    amh_si = round(amh * 7.14, 1)
    rows = [
        [
            "Anti-Mullerian Hormone (AMH)",
            str(amh_si if si else amh),
            "pmol/L" if si else "ng/mL",
            "7.1-28" if si else "1.0-4.0",
        ],
        ["FSH", str(fsh), "IU/L" if si else "mIU/mL", "3.5-12.5"],
        ["LH", str(lh), "IU/L" if si else "mIU/mL", "2.4-12.6"],
    ]
    gold = {
        "amh": (amh_si if si else amh, rows[0][2]),
        "fsh": (fsh, rows[1][2]),
        "lh": (lh, rows[2][2]),
    }
    if n != 1:
        rows.append(["Estradiol", str(e2), "pg/mL", "12-166"])
        gold["estradiol"] = (e2, "pg/mL")
    blocks = [
        *_head(rng),
        ("title", "HORMONE PANEL"),
        ("line", "Day 2 of cycle"),
        ("table", [["Test", "Result", "Unit", "Range"], *rows]),
    ]
    return Report(
        name=f"hormone{n}",
        contract="IVF",
        type="hormone_panel",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def semen(rng: random.Random, n: int) -> Report:
    vol, con, tot, pro, nor = (
        rng.choice([1.8, 2.5, 3.2]),
        rng.choice([12, 38, 61]),
        rng.choice([31, 48, 60]),
        rng.choice([22, 34]),
        rng.choice([2, 4, 6]),
    )
    comment = rng.choice(["Mild asthenozoospermia.", "Parameters within reference limits."])
    rows = [
        ["Volume", str(vol), "mL", "> 1.4"],
        ["Sperm concentration", str(con), "million/mL", "> 16"],
        ["Total motility", str(tot), "%", "> 42"],
        ["Progressive motility", str(pro), "%", "> 30"],
        ["Non-progressive motility", str(tot - pro), "%", ""],
        ["Normal forms", str(nor), "%", "> 4"],
    ]
    gold = {
        "volume": (vol, "mL"),
        "concentration": (con, "million/mL"),
        "total_motility": (tot, "%"),
        "progressive_motility": (pro, "%"),
        "morphology": (nor, "%"),
        "impression": (comment, None),
    }
    blocks = [*_head(rng), ("title", "SEMEN ANALYSIS (WHO 2021)")]
    blocks += (
        [("table", [["Parameter", "Result", "Unit", "Reference"], *rows])]
        if n % 2
        else [("line", f"{r[0]}: {r[1]} {r[2]}") for r in rows]
    )
    blocks.append(("line", f"Comment: {comment}"))
    return Report(
        name=f"semen{n}",
        contract="IVF",
        type="semen_analysis",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def ecg(rng: random.Random, n: int) -> Report:
    rate, qtc = rng.choice([58, 72, 96]), rng.choice([402, 431, 468])
    rhythm = rng.choice(["Normal sinus rhythm", "Atrial fibrillation"])
    conclusion = rng.choice(
        ["No acute ischaemic changes.", "Left ventricular hypertrophy by voltage."]
    )
    if n % 2:
        blocks = [
            *_head(rng),
            ("title", "12-LEAD ECG REPORT"),
            ("line", f"Ventricular rate: {rate} bpm"),
            ("line", "PR interval: 160 ms"),
            ("line", f"QT/QTc: 388/{qtc} ms" if n == 1 else f"QTc: {qtc} ms"),
            ("line", f"Rhythm: {rhythm}"),
            ("line", f"Interpretation: {conclusion}"),
        ]
    else:
        blocks = [
            *_head(rng),
            ("title", "ELECTROCARDIOGRAM"),
            ("para", f"Rhythm: {rhythm}. Heart rate {rate}/min. Normal axis. QTc {qtc} ms."),
            ("title", "CONCLUSION"),
            ("para", conclusion),
        ]
    gold = {
        "rhythm": (rhythm, None),
        "heart_rate": (rate, "bpm" if n % 2 else "/min"),
        "impression": (conclusion, None),
        "qtc": (qtc, "ms"),
    }
    return Report(
        name=f"ecg{n}", contract="CABG", type="ecg", blocks=tuple(blocks + _tail(rng)), gold=gold
    )


def echo(rng: random.Random, n: int) -> Report:
    ef, pasp = rng.choice([35, 48, 60]), rng.choice([28, 42])
    wall = rng.choice(["Hypokinesia of the inferior wall.", "No regional wall motion abnormality."])
    mitral = rng.choice(["Mild mitral regurgitation.", "The mitral valve is normal."])
    impression = (
        "Reduced left ventricular function." if ef < 50 else "Preserved left ventricular function."
    )
    said = (
        f"LVEF {ef}%.",
        f"Ejection fraction: {ef} %.",
        f"The ejection fraction is estimated at {ef}% by biplane Simpson.",
    )[n % 3]
    blocks = [
        *_head(rng),
        ("title", rng.choice(["2D ECHOCARDIOGRAPHY REPORT", "TRANSTHORACIC ECHOCARDIOGRAM"])),
        ("para", f"{said} {wall} {mitral} PASP {pasp} mmHg."),
        ("line", f"Impression: {impression}"),
    ]
    gold = {
        "ejection_fraction": (ef, "%"),
        "wall_motion": (wall, None),
        "mitral_valve": (mitral, None),
        "pasp": (pasp, "mmHg"),
        "impression": (impression, None),
    }
    return Report(
        name=f"echo{n}",
        contract="CABG",
        type="echo_report",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def angiogram(rng: random.Random, n: int) -> Report:
    lm, lad, rca = rng.choice([0, 40, 60]), rng.choice([70, 90]), rng.choice([50, 80, 100])
    impression = "Triple vessel disease." if n % 2 else "Two vessel coronary artery disease."
    blocks = [*_head(rng), ("title", "CORONARY ANGIOGRAPHY REPORT")]
    if n % 2:
        blocks += [
            ("line", f"Left main: {lm}% distal stenosis"),
            ("line", f"LAD: {lad}% proximal stenosis"),
            ("line", "LCX: minor irregularities"),
            ("line", f"RCA: {rca}% mid stenosis"),
        ]
    else:
        blocks += [
            (
                "para",
                f"Left main coronary artery shows {lm}% stenosis. Left anterior descending (LAD) artery: {lad}% stenosis in its mid part. Circumflex is normal. Right coronary artery has {rca}% stenosis.",
            )
        ]
    blocks.append(
        ("line", f"Final diagnosis: {impression}" if n % 2 else f"Conclusion: {impression}")
    )
    gold = {
        "left_main": (lm, "%"),
        "lad": (lad, "%"),
        "rca": (rca, "%"),
        "impression": (impression, None),
    }
    return Report(
        name=f"angio{n}",
        contract="CABG",
        type="angiogram_report",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def biometry(rng: random.Random, n: int) -> Report:
    right, left = (23.41, 43.25, 44.1), (23.58, 43.5, 44.75)
    gold = {
        f"{what}_{side}": (values[k], unit)
        for side, values in (("right", right), ("left", left))
        for k, (what, unit) in enumerate((("axial_length", "mm"), ("k1", "D"), ("k2", "D")))
    }
    blocks = [*_head(rng), ("title", "OCULAR BIOMETRY (IOLMaster)")]
    if n == 0:
        blocks.append(
            (
                "table",
                [
                    ["", "OD (right)", "OS (left)"],
                    ["Axial length", f"{right[0]} mm", f"{left[0]} mm"],
                    ["K1", f"{right[1]} D", f"{left[1]} D"],
                    ["K2", f"{right[2]} D", f"{left[2]} D"],
                ],
            )
        )
    elif n == 1:
        for eye, v in (("Right eye (OD)", right), ("Left eye (OS)", left)):
            blocks += [
                ("title", eye),
                ("line", f"Axial length: {v[0]} mm"),
                ("line", f"K1: {v[1]} D"),
                ("line", f"K2: {v[2]} D"),
            ]
    else:
        for eye, v in (("OD", right), ("OS", left)):
            blocks += [
                ("line", f"AL {eye}: {v[0]} mm"),
                ("line", f"K1 {eye}: {v[1]} D"),
                ("line", f"K2 {eye}: {v[2]} D"),
            ]
    return Report(
        name=f"biometry{n}",
        contract="CATARACT",
        type="ocular_biometry",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def screen(rng: random.Random, n: int) -> Report:
    rows = [
        ["HIV 1/2 Ag/Ab", "Non-reactive"],
        ["HBsAg", "Non-reactive"],
        ["Anti-HCV", "Reactive" if n else "Non-reactive"],
    ]
    blocks = [
        *_head(rng),
        ("title", "VIRAL SEROLOGY SCREEN"),
        ("table", [["Test", "Result"], *rows]),
    ]
    gold = {
        "hiv": (rows[0][1], None),
        "hepatitis_b": (rows[1][1], None),
        "hepatitis_c": (rows[2][1], None),
    }
    return Report(
        name=f"screen{n}",
        contract="IVF",
        type="infection_screen",
        blocks=tuple(blocks + _tail(rng)),
        gold=gold,
    )


def reports(seed: int = 4) -> list[Report]:
    """Fifty reports of eleven kinds."""
    rng = random.Random(seed)
    makers = (
        (knee, 9),
        (hip, 5),
        (blood, 12),
        (hormones, 4),
        (semen, 4),
        (ecg, 4),
        (echo, 4),
        (angiogram, 3),
        (biometry, 3),
        (screen, 2),
    )
    return [make(rng, n) for make, many in makers for n in range(many)]
