"""The words by which people say yes to a draft, in English and in Chinese."""

from __future__ import annotations

from olav_core import ConfirmationSpec, hookimpl

_ENGLISH = (
    "ok", "okay", "yes", "yep", "yeah", "yup", "y", "sure", "absolutely", "definitely", "of course",
    "certainly", "confirm", "confirm it", "confirmed", "i confirm", "i agree", "agreed", "approve",
    "approve it", "approved", "i approve", "accept", "accepted", "go ahead", "do it", "do that", "do so",
    "go for it", "please do", "yes i do", "commit", "commit it", "commit this", "commit that",
    "commit the draft", "save", "save it", "save this", "save that", "save the draft", "save the memory",
    "store it", "store this", "store that", "keep it", "remember it", "remember this", "remember that",
    "correct", "that is correct", "that's correct", "that is right", "that's right", "thats right",
    "looks good", "looks good to me", "looks right", "looks correct", "lgtm", "sounds good", "that's fine",
    "that is fine", "fine by me", "fine with me", "you may", "you can save it", "all good", "ship it",
)  # fmt: skip
_ENGLISH_FILLERS = (
    "please", "thanks", "thank you", "thx", "now", "then", "so", "it", "that", "this", "great", "fine",
    "good", "nice", "perfect", "excellent", "alright", "all right", "well", "for me",
    *"👍👌✅🙏😊🙂",
)  # fmt: skip
# With a filler they ask the agent for it: "please confirm", "correct it". "just" is no filler: it limits.
_ENGLISH_ALONE = ("confirm", "confirm it", "approve", "approve it", "accept", "correct")

# 吧 makes some a question (对吧, 是吧), some a doubt (可以吧), some a request (保存吧): each form by itself.
# Left out: 好了, 行了 ("enough"), 对了 ("by the way"), and 你 as a filler (你确定: "are you sure").
_CHINESE = """
可以 可以的 可以了 好 好的 好吧 好呀 好啊 好嘞 行 行的 行吧 是 是的 对 对的 正确 没错 没问题 没有问题
没意见 同意 我同意 确认 我确认 确认无误 无误 确定 我确定 批准 通过 赞成 当然 当然可以 照办
入库 入库吧 确认入库 提交 提交吧 确认提交 写入 写入吧 保存 保存吧 确认保存 保存下来 保存下来吧 照此保存
存吧 存下来 存下来吧 存起来 存起来吧 记住 记住吧 记住它 记下来 记下来吧 记下吧 记录吧
就这样 就这样吧 就这么办 就这么办吧 就这么存 就这么存吧
"""
_CHINESE_FILLERS = "请 谢谢 谢谢你 多谢 麻烦 麻烦你 麻烦了 现在 那 就 帮我 嗯 嗯嗯 哦 哈"
_CHINESE_ALONE = "确认 确定 批准 通过 同意 赞成"


@hookimpl
def olav_register_confirmations() -> list[ConfirmationSpec]:
    return [
        ConfirmationSpec(
            id="confirmations_en",
            purpose="English: yes, go ahead, save it",
            languages=("en",),
            yes=_ENGLISH,
            fillers=_ENGLISH_FILLERS,
            alone=_ENGLISH_ALONE,
            replies=("OK", "yes"),
        ),
        ConfirmationSpec(
            id="confirmations_zh",
            purpose="Chinese: 可以, 好的, 入库",
            languages=("zh",),
            yes=tuple(_CHINESE.split()),
            fillers=tuple(_CHINESE_FILLERS.split()),
            alone=tuple(_CHINESE_ALONE.split()),
            replies=("可以", "入库", "确认"),
        ),
    ]
