"""How successes are worded, what only sounds like a failure, and what takes a success back."""

from __future__ import annotations

import re
from typing import Final


def any_of(*patterns: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)


#: A text that begins like this says that it worked; only a line that is an error by itself says otherwise.
SUCCESS_START: Final = any_of(
    r"\A\W*(?:ok|okay|done|success(?:ful(?:ly)?)?|succeeded|complete[d]?|ready|accepted|applied|"
    r"passed)\b(?! with errors?)",
    r"\A\W*(?:has been |have been |was |were )?(?:successfully )?(?:added|appended|applied|archived|"
    r"assigned|booked|cleared|closed|committed|configured|created|deleted|deployed|destroyed|dropped|"
    r"edited|emitted|enabled|disabled|executed|exported|fixed|imported|ingested|inserted|installed|"
    r"marked|merged|modified|moved|posted|published|pushed|recorded|registered|removed|renamed|replaced|"
    r"reset|resolved|restarted|saved|scheduled|sent|set|started|stopped|stored|updated|uploaded|wrote|"
    r"written)\b(?! (?:failed|error))",
    r"\A\W*(?:HTTP/[\d.]+\s+)?[23]\d\d(?:\s+(?:ok|created|accepted|no content))\b",
    r"\A\W*(?:commit complete|configuration check succeeds|info: the max number)",
    r"\A\W*(?:操作|执行|处理|任务)?(?:已)?(?:全部|均)?(?:成功|完成)(?!率)(?!.{0,6}失败)",
    r"\A\W*(?:已|成功)(?:成功)?(?:将|把|为|经)?(?:创建|新建|新增|添加|删除|更新|修改|保存|部署|推送|注册|"
    r"导出|导入|写入|记录|停止|启动|重启|执行|销毁|提交|发送|发布|配置|设置|下发|关闭|启用|禁用|清空|"
    r"清理|上传|安装|卸载|备份|恢复|绑定|分配|预订|支付|通知|登记|归档|修复|处理)",
    r"\A.{1,60}?(?:创建|新建|添加|删除|更新|修改|保存|部署|推送|注册|导出|导入|写入|停止|启动|重启|执行|"
    r"销毁|提交|发送|发布|配置|设置|下发|操作)(?:已)?(?:成功|完成)",
)  # fmt: skip

#: "without errors", "0 failed", "错误数 0": taken out before anything is looked for.
HARMLESS: Final = any_of(
    r"\b(?:no|zero|without(?: any)?|any|0|free of)\s+(?:\w+\s+){0,2}?(?:errors?|failures?|failed|faults?|"
    r"exceptions?|rejects?|timeouts?|denied|conflicts?|issues?|problems?|warnings?|changes? (?:lost|"
    r"discarded))\b",
    r"\b(?:errors?|failures?|failed|fail|faults?|exceptions?|rejected|denied|timeouts?|conflicts?|"
    r"unreachable|dropped)(?:\s*(?:count|total|rate|num(?:ber)?))?\s*[:=]?\s*(?:0(?:\.0+)?%?(?![\d.])|"
    r"none\b|null\b|nil\b|false\b|\[\]|\{\})",
    r"\b(?:0)\s*(?:/\s*\d+\s*)?(?:failed|errors?)\b",
    r"\b(?:error|failure|fail|exception|timeout|reject|deny)[-_ ]?(?:rates?|budgets?|handlers?|handling|"
    r"pages?|counters?|codes?|logs?|logging|reports?|reporting|thresholds?|policy|policies|rules?|"
    r"alerts?|messages? (?:template|updated)|domains?|over|back|detection|tracking|settings?|values?|"
    r"seconds|ms|intervals?)\b(?!\s*[:=]\s*[1-9a-z])",
    r"\b(?:dead[- ]letter|failed)[-_ ](?:jobs?|logins?|attempts?|items?|messages?|tasks?|queue|requests?|"
    r"records?|rows?|orders?|payments?)(?=\s+(?:were |was |have been |has been )?(?:cleared|deleted|"
    r"removed|purged|retried|re-?queued|requeued|archived|exported|reprocessed))",
    r"\b(?:not|never|nothing)\s+(?:failed|rejected|denied|interrupted)\b",
    r"(?:无|没有|未发现|未出现|零|0\s*[个条项次台]?|不再)\s*(?:任何)?(?:错误|失败|异常|报错|冲突|超时|"
    r"告警)(?:项|记录|任务)?",
    r"(?:错误|失败|异常|报错|冲突|超时|拒绝)(?:总)?(?:数量|数|条数|个数|次数|率|"
    r"项)?\s*[:：=为是]?\s*(?:0(?:\.0+)?%?(?![\d.])|无(?![\u4e00-\u9fff]))",
    r"(?:错误|失败|异常|超时|拒绝)(?:率|码表|处理|重试|策略|阈值|时间|告警|日志|页面|检测|转移|记录|计数|"
    r"上限|设置|间隔|规则|预算)",
    r"\b(?:timeout|timed out after)\s*(?:=|:|\bto\b|\bof\b|\bset\b)\s*\d+\s*(?:s|ms|sec\w*|"
    r"min\w*)?\b(?!.*\b(?:exceeded|expired))",
)  # fmt: skip

#: "Saved, but the upload failed".
BUT: Final = any_of(
    r"\b(?:but|however|although|yet)\b[^.\n]{0,80}\b(?:fail\w*|errors?|could not|cannot|unable|denied|"
    r"rejected|rolled back|timed out|not (?:applied|saved))\b",
    r"(?:但|但是|不过|然而)[^。\n]{0,40}(?:失败|错误|未能|无法|拒绝|超时|回滚|未生效)",
    r"\bcompleted? with (?:[1-9]\d* )?(?:errors?|failures?)\b",
    r"\((?:dry[- ]?run|simulated|no changes)\b", r"\bdry[- ]?run\b", r"（(?:试运行|模拟|演练)",
    r"\b(?:exit(?:ed)? (?:with )?)(?:code|status)\s*[:=]?\s*-?[1-9]\d*\b",
)  # fmt: skip
#: The outcome of a tool that is meant to cancel, reject or stop.
ENDINGS: Final = {
    "cancelled": "cancel abort revoke withdraw 取消 撤销 撤回 退订",
    "canceled": "cancel abort revoke withdraw 取消 撤销 撤回 退订",
    "rejected": "reject decline deny refuse 拒绝 驳回",
    "declined": "reject decline deny refuse 拒绝 驳回",
    "denied": "deny reject decline block revoke 拒绝 驳回 禁止",
    "aborted": "abort cancel stop kill terminate 中止 终止 停止",
    "interrupted": "interrupt stop abort kill 中断 停止",
    "blocked": "block ban deny quarantine isolate 封禁 隔离 阻断",
    "expired": "expire revoke 过期",
    "skipped": "skip 跳过",
    "rolled_back": "rollback roll revert undo restore 回滚 恢复",
    "已取消": "cancel 取消 撤销",
    "已拒绝": "reject decline deny 拒绝 驳回",
    "已驳回": "reject decline deny 拒绝 驳回",
    "已回滚": "rollback roll revert 回滚",
}
