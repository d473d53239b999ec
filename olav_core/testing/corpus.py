"""A tiny corpus in English and Chinese: enough to see a recall work, small enough to read."""

from __future__ import annotations

from attrs import frozen

from olav_core.specs import Draft


@frozen
class Topic:
    """One thing to remember, told in both languages, and a question for it in each."""

    english: str
    chinese: str
    question: str
    chinese_question: str


#: Topics that share no content word, so that even the hashing embedder tells them apart.
TOPICS = (
    Topic(
        "Router R1 is the border router in Shanghai",
        "路由器 R1 是上海的边界路由器",
        "which border router is in Shanghai?",
        "上海的边界路由器是哪台？",
    ),
    Topic(
        "Backups of the billing database run every night at two o'clock",
        "计费数据库每天凌晨两点备份",
        "when do the billing database backups run?",
        "计费数据库什么时候备份？",
    ),
    Topic(
        "The printer error E-42 goes away when the paper wheel is cleaned",
        "打印机报错 E-42 时清洁进纸轮即可恢复",
        "the printer shows error E-42",
        "打印机报错 E-42 怎么办",
    ),
    Topic(
        "TLS certificates are renewed thirty days before they expire",
        "TLS 证书在到期前三十天续签",
        "how long before they expire are certificates renewed?",
        "证书到期前多久续签？",
    ),
    Topic(
        "Change windows are Tuesday and Thursday after 22:00",
        "变更窗口是周二和周四二十二点以后",
        "when are the change windows on Tuesday?",
        "变更窗口是什么时候？",
    ),
    Topic(
        "Alarms about fan speed on switch SW-7 may be silenced",
        "交换机 SW-7 的风扇转速告警可以屏蔽",
        "may fan speed alarms on switch SW-7 be silenced?",
        "SW-7 的风扇告警能屏蔽吗？",
    ),
)


def tiny_corpus(category: str = "fact") -> tuple[Draft, ...]:
    """Return the twelve memories of TOPICS as drafts, English and Chinese in turn."""
    texts = (text for topic in TOPICS for text in (topic.english, topic.chinese))
    return tuple(Draft(text=text, category=category) for text in texts)
