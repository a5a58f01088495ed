"""Units of mass, volume and count as they stand on packs, in the scripts that shops write.

Metric units fold into `g` and `ml`, the base units; customary units keep their name and know their base factor.
Where the United States and Britain use one word for two volumes, the locale decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_GRAM_PER_LB = Decimal("453.59237")
_ML_PER_US_FL_OZ = Decimal("29.5735295625")
_ML_PER_UK_FL_OZ = Decimal("28.4130625")


@dataclass(frozen=True, slots=True)
class Unit:
    """`name` is what a size is given in, `scale` how many of it one written unit is, `base` g, ml or each.

    `factor` is how many base units one `name` is; `tiny` marks milligrams and their like, which more often say
    how strong a thing is than how much of it there is; `big` units are written with fractions (`0,750 l`).
    """

    name: str
    base: str
    scale: Decimal = Decimal(1)
    factor: Decimal = Decimal(1)
    tiny: bool = False
    big: bool = False


def _metric(base: str, scale: str, *, tiny: bool = False, big: bool = False) -> Unit:
    return Unit(base, base, Decimal(scale), tiny=tiny, big=big)


_WRITTEN: tuple[tuple[Unit, str], ...] = (
    (_metric("g", "0.000001", tiny=True), "µg mcg μg"),
    (_metric("g", "0.001", tiny=True), "mg мг 毫克 ミリグラム 밀리그램 ملغ ملجم מ\"ג มก มิลลิกรัม milligram milligrams"),
    (
        _metric("g", "1"),
        "g gr grs gm gms gram grams gramm gramme grammes gramo gramos grammi grammo grama gramas г гр грамм граммов "
        "克 公克 グラム 그램 그람 جم غ غرام جرام غم غرامًا גרם ג' ג גר' γρ γρ. γραμμάρια กรัม ก. ग्राम g.",
    ),
    (
        _metric("g", "1000", big=True),
        "kg kgs kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos кг килограмм 公斤 千克 キログラム キロ "
        "킬로그램 킬로 كجم كغ كغم كيلو كيلوجرام ק\"ג ק״ג קג קילו κιλά κιλό κιλο กก กก. กิโลกรัม किलो किग्रा",
    ),
    (_metric("g", "100"), "dag hg deka"),
    (_metric("g", "500", big=True), "斤 市斤"),
    (
        _metric("ml", "1"),
        "ml mls millilitre millilitres milliliter milliliters mililitros millilitri cc ccm мл миллилитров 毫升 ミリリットル "
        "밀리리터 مل ملل مليلتر מ\"ל מ״ל מל มล มล. มิลลิลิตร मिली ml.",
    ),
    (_metric("ml", "10"), "cl cls centilitre centilitres centiliter сл кл cl."),
    (_metric("ml", "100"), "dl dcl décilitre deciliter дл デシリットル"),
    (
        _metric("ml", "1000", big=True),
        "l lt ltr ltrs litre litres liter liters litro litros litri litr litrów liter. л литр литра литров 升 公升 リットル 리터 "
        "لتر ل ליטר ל' λίτρο λίτρα λιτ ลิตร लीटर l.",
    ),
    (Unit("oz", "g", factor=_GRAM_PER_LB / 16), "oz oz. ozs ounce ounces onza onzas unze unzen unce uncja"),
    (Unit("lb", "g", factor=_GRAM_PER_LB), "lb lbs lb. lbs. pound pounds libra libras"),
    (
        Unit("fl_oz", "ml", factor=_ML_PER_US_FL_OZ),
        "floz fl.oz fl.oz. fl-oz fl_oz fl.ozs fluidounce fluidounces fluidoz ozfl",
    ),
    (Unit("pt", "ml", factor=_ML_PER_US_FL_OZ * 16, big=True), "pint pints"),
    (Unit("qt", "ml", factor=_ML_PER_US_FL_OZ * 32, big=True), "qt quart quarts"),
    (Unit("gal", "ml", factor=_ML_PER_US_FL_OZ * 128, big=True), "gal gallon gallons"),
    (
        Unit("each", "each"),
        "ea each ct count pc pcs pce piece pieces unit units stück stk pièce pièces pce unité unités unidad unidades uds "
        "ud pezzi pezzo pz stuks szt sztuk ks kus kusů db шт штук 個 个 枚 個入 개 قطعة קטע יחידות τεμ τεμάχια ชิ้น adet "
        "tablet tablets tabs tab tablette tabletten comprimés capsule capsules caps kapseln kaps softgels gummies "
        "sachets teabags bags beutel lozenges wipes таблеток капсул pastillas",
    ),
)  # fmt: skip

_UK = {
    "fl_oz": Unit("fl_oz", "ml", factor=_ML_PER_UK_FL_OZ),
    "pt": Unit("pt", "ml", factor=_ML_PER_UK_FL_OZ * 20, big=True),
    "qt": Unit("qt", "ml", factor=_ML_PER_UK_FL_OZ * 40, big=True),
    "gal": Unit("gal", "ml", factor=_ML_PER_UK_FL_OZ * 160, big=True),
}

UNITS: dict[str, Unit] = {}
for _unit, _names in _WRITTEN:
    for _name in _names.split():
        UNITS.setdefault(_name.replace("״", '"'), _unit)

_LONGEST_FIRST = sorted(UNITS, key=len, reverse=True)
PATTERN = (
    r"(?:fl(?:uid)?[.\s]{0,2}\s?(?:ounces?|ozs?)\.?|"
    + "|".join(re.escape(name) for name in _LONGEST_FIRST if name[-1] != ".")
    + r")\.?"
)
"""Alternatives of one unit, longest first; a boundary after it is the caller's to check."""


def unit_of(written: str, *, british: bool = False) -> Unit | None:
    """The unit that a text matched by `PATTERN` names."""
    key = re.sub(r"\s", "", written.casefold())
    if key.startswith("fl") and "o" in key:
        key = "floz"
    unit = UNITS.get(key) or UNITS.get(key.rstrip("."))
    if unit is not None and british:
        return _UK.get(unit.name, unit)
    return unit
