"""Offers in the last assistant message, so that they are kept before anything else (IN-08). Pure."""

from __future__ import annotations

import re

__all__ = ["MOST", "promises"]

MOST = 3
_SENTENCE = re.compile(r"(?:[^.!?\n؟।]|\.(?=\S))+[.!?؟।]*")
_DO = (
    r"(?:send|explain|note|check|look|find|show|add|list|prepare|share|tell|pass|forward|arrange|connect|put|write|"
    r"summari[sz]e|go (?:over|through|ahead)|walk you|take you|give|get|help|start|begin|open|keep|come back|follow|include|"
    r"remind|record|read|compare|describe|save|bring|raise|mention|translate|estimate|draft|match|make|set|hold|leave|let you know|"
    r"ask (?:the|our|a|them|your surgeon|somebody|someone)|break|upload|link|point|provide|offer|collect|call|contact|reach|update|wait)"
)
_OFFER = re.compile(
    rf"\b(?:shall|should|may|can|could|might) (?:i|we) (?:\w+ )?{_DO}\b"
    rf"|\b(?:i|we)(?: can| could|'ll| will| shall|'d be (?:happy|glad) to| would be (?:happy|glad) to| am happy to| am going to|'m going to|'m happy to| promise to)(?: (?:also|then|gladly|certainly|now|first))? {_DO}\b"
    r"|\b(?:i|we)(?:'m|'re| am| are)? (?:plan(?:ning)?|intend(?:ing)?|mean|aim|promise|offer|undertake) to \w+"
    rf"|\b(?:i|we)(?: will|'ll)(?: (?!not\b|never\b|need\b|have\b|be\b|see\b|only\b|know\b|understand\b)\w+)"
    r"|\b(?:i|we)(?:'ll| will) be (?:in touch|back|sending|writing|looking|checking|asking|glad|happy|here|with you|preparing)\b"
    r"|\b(?:i|we)(?:'m|'re| am| are)(?: \w+ly| just| now| also)? going to \w+|\b(?:i|we)(?:'m|'re| am| are) about to \w+"
    r"|\byou(?:'ll| will| can expect to| should)(?: \w+)? (?:get|have|receive|hear|find|see)\b[^.!?]*\b(?:from (?:me|us)|by (?:today|tonight|tomorrow|\w+day|the end|next|noon|evening)|(?:today|tonight|tomorrow|shortly|soon|this (?:afternoon|evening|week)|within)\b)"
    rf"|\b(?:how|what) about (?:i|we|if i|if we|me|us)\b|\bhow would it be if (?:i|we)\b"
    r"|\b(?:is it|would it be|are you) (?:all right|alright|ok(?:ay)?|fine|good|comfortable)(?: with you| by you| for you)? (?:if (?:i|we)|for (?:me|us) to|with (?:me|us|my|our) \w+ing)\b"
    r"|\b(?:leave (?:that|it|this) (?:with|to) (?:me|us)|you have my word|count on me to|my next step is to)\b"
    r"|\bwould it (?:help|be (?:useful|easier|helpful|good|ok(?:ay)?|all right)|make (?:it|things) easier)\b"
    r"|\bwould (?:it|that) help\b"
    r"|\b(?:do|would|did) you (?:want|like|prefer|mind if) (?:me|us|i|we)\b(?: to)?"
    rf"|\bwant (?:me|us) to\b|\b(?:let me|allow me to|happy to|glad to) (?:\w+ )?{_DO}\b"
    r"|\b(?:would you like|do you want|want|interested in) (?:an?|the|some|to see|to know|to hear|to talk to|to have) [^.!?]*\?"
    r"|\bif you(?:'d)? (?:like|want|wish|prefer),? (?:i|we)(?:'ll| can| could| will)\b"
    r"|هل (?:تريد|تود|ترغب) (?:في )?أن (?:أ|ن)|هل يساعدك|क्या मैं .{1,60}\?|क्या आप चाहेंगे कि",
    re.IGNORECASE,
)
_NOT_AN_OFFER = re.compile(
    r"\b(?:can|could|should|may|might) (?:i|we) (?:just )?(?:ask(?! (?:the|our|a|them|your surgeon|somebody|someone)\b)|confirm|clarify|know|call you)\b"
    r"|\blet me (?:ask(?! (?:the|our|them))|know|make sure|confirm)\b"
    r"|\b(?:i|we) (?:can|could|will|would)(?:n't|not| not| never)\b|\b(?:i|we) (?:won't|can't|cannot|couldn't|am not|'m not)\b"
    r"|\bonce (?:you|i have|we have)\b[^.!?]*\b(?:will be able)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:surgeon|doctor|hospital|team|clinic|they|she|he) (?:will|can|could|would)\b(?![^.!?]*\b(?:shall|want me|let me)\b)",
    re.IGNORECASE,
)


def promises(message: str) -> tuple[str, ...]:
    """The last three sentences of the message that offer or promise something, in their order.

    A question for the person ("may I ask"), a refusal ("I can't") and what others will do are no
    offers. The same offer made twice counts once.
    """
    found: dict[str, None] = {}
    for sentence in _SENTENCE.findall(message.replace("’", "'").replace("‘", "'")):
        text = " ".join(sentence.split())
        offer, others = _OFFER.search(text), _OTHERS.search(text)
        theirs = offer is not None and others is not None and others.start() <= offer.start()
        if offer and not theirs and not _NOT_AN_OFFER.search(text):
            found.pop(text, None)
            found[text] = None
    return tuple(found)[-MOST:]
