"""Leg `translated`: how much of the query a memory says in another language, by the lexicons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from olav_core import RankerSpec, hookimpl, language_of

if TYPE_CHECKING:
    from olav_core import FloatArray, Options, Pool, Query

#: The most that a translated query counts, beside a BM25 share of 0 to 1.
WEIGHT = 1.0
#: What a part of the query without a translation counts in the whole, beside 1 of a translated part: such
#: parts are particles and endings more often than what a query is about.
UNKNOWN = 0.5
#: What counts of it in a memory of the query's own language, which would rather say it in that language: a
#: foreign word is a name there, or one term of a mixed text. Languages of one script cannot be told apart.
OWN_LANGUAGE = 0.3


class TranslatedLeg:
    """Options `weight`, `unknown` and `own_language`."""

    def __init__(self, options: Options) -> None:
        self.weight = float(options.get("weight", WEIGHT))
        self.unknown = float(options.get("unknown", UNKNOWN))
        self.own_language = float(options.get("own_language", OWN_LANGUAGE))

    def scores(self, query: Query, pool: Pool) -> FloatArray:
        import numpy as np

        translation = query.translation
        known = translation.coverage
        if not known:
            return np.zeros(pool.size, dtype=np.float32)
        share = known / (known + self.unknown * (1 - known))
        scores = pool.concepts(translation.concepts) * np.float32(self.weight * share)
        phrases = [phrase for concept in translation.concepts for phrase in concept.phrases]
        scripts = (filter(str.isascii, phrases), (phrase for phrase in phrases if not phrase.isascii()))
        if query.language in pool.languages and not any(
            language_of(text) == query.language for script in scripts if (text := " ".join(script))
        ):
            own = pool.language_codes == pool.languages.index(query.language)
            scores[own] *= np.float32(self.own_language)
        return scores


@hookimpl
def olav_register_rankers() -> list[RankerSpec]:
    return [
        RankerSpec(
            id="translated",
            stage="retrieve",
            purpose="Words that mean the query's in another language, by the installed lexicons",
            factory=TranslatedLeg,
            priority=42,
        )
    ]
