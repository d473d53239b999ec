"""How failures are worded: shells, routers, HTTP, SQL, languages, people who said no; English and Chinese."""

from __future__ import annotations

import re
from typing import Final

from olav_outcomes.phrases import any_of

#: A line that begins like this is an error, wherever in the output it stands.
ERROR_LINE: Final = any_of(
    r"^\W{0,4}(?:\[?(?:error|fatal|err|critical|panic|severe|fail(?:ed|ure)?|exception|abort(?:ed)?|"
    r"denied|rejected)\]?)\s*(?:\[[^\]]*\]|\([^)]*\)|\w{1,12})?\s*[:：!-]",
    r"^\W{0,3}(?:error|fatal|failed|failure)\s*$",
    r"^ERROR\s+\d{3,5}\b",
    r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Timeout|Warning as error)(?::|\s*$)",
    r"^Traceback \(most recent call last\)",
    r"^\s*(?:Caused by:|at [\w.$]+\([\w.]+:\d+\))",
    r"^(?:bash|sh|zsh|ksh|dash|-bash|sudo|ssh|scp|cp|mv|rm|mkdir|ls|cat|tar|curl|wget|git|make|npm ERR!|"
    r"pip|docker|kubectl)(?:: line \d+)?:? .*(?:not found|denied|no such|cannot|can't|failed|refused|"
    r"error|invalid|not permitted|unable|fatal|missing|unknown|exist)",
    r"^\W{0,3}npm ERR!",
    # Routers: IOS and EOS, NX-OS and IOS-XR, Junos, VRP and Comware, RouterOS, FortiOS, PAN-OS, VyOS
    r"^\s*!*%\s*(?:[a-z]+ )?(?:invalid|incomplete|ambiguous|unknown|unrecognized|unavailable|bad|access|"
    r"authori[sz]ation|authentication|login|failed|error|cannot|can't|not |no such|permission|connection|"
    r"duplicate|overlap|command|range|vlan .*not|interface .*not|configuration fail)",
    r"^\s*!!%\s",
    r"^\s*%\s*(?:\w[\w./-]*\s+){1,8}(?:overlaps with|is not valid|not allowed|not supported|"
    r"does not exist|already exists?|is in use)",
    r"^\s*\^\s*$",
    r"\bsyntax error, expecting\b",
    r"^\s*(?:syntax error|unknown command|invalid (?:command|input|syntax|value)|command rejected|"
    r"command fail|command parse error|incomplete command|unrecognized command|bad command name|"
    r"bad parameter|missing argument|expected end of command|input does not match any value|"
    r"commit failed|set failed|server error|configuration check-out failed|load failed)\b",
    r"^\s*(?:HTTP/[\d.]+\s+|HTTP(?: status)?[ :]+|status(?: code)?\s*[:=]?\s*|"
    r"error\s+)?[45]\d\d\s*[:-]?\s*(?:bad request|unauthori[sz]ed|payment required|forbidden|not found|"
    r"method not allowed|not acceptable|request timeout|conflict|gone|unprocessable|too many requests|"
    r"internal server error|not implemented|bad gateway|service unavailable|gateway timeout|client error|"
    r"server error|failed|error)",
    r"^\W{0,4}(?:错误|失败|异常|严重错误|致命错误|报错|拒绝|出错)\s*(?:[\[(（]\w+[\])）]|\d+)?\s*[:：!！]",
    flags=re.IGNORECASE | re.MULTILINE,
)  # fmt: skip

#: What failures say about themselves, anywhere in a text that does not begin with a success.
FAILURE: Final = any_of(
    r"\bpermission(?: was| is)? denied\b", r"\baccess(?: is| was)? denied\b",
    r"\boperation not permitted\b", r"\bnot authori[sz]ed\b",
    r"\bunauthori[sz]ed\b", r"\bforbidden\b", r"\bauthentication (?:failed|failure|required)\b",
    r"\binsufficient (?:permissions?|privileges?|funds|space|scope)\b",
    r"\bcommand not found\b", r"\bno such (?:file|directory|host|table|column|device|user|container|key|"
    r"bucket|process)\b", r"\bnot recogni[sz]ed as\b",
    r"\bconnection (?:refused|reset|timed out|aborted|closed|failed|error|lost)\b", r"\b(?:request|"
    r"operation|command|session|connection) timed? ?out\b",
    r"\btimed out\b", r"\btimeout (?:exceeded|expired|while|waiting)\b", r"\bdeadline exceeded\b",
    r"\b(?:host|network) (?:is )?(?:unreachable|down)\b",
    r"\bcould ?n[o']t\b", r"\bcannot\b", r"\bcan't\b", r"\bunable to\b", r"\bdid not (?:succeed|complete|"
    r"work|apply)\b", r"\bwas not (?:created|applied|saved|executed|sent|"
    r"updated|deleted|written|found|performed|successful|allowed)\b",
    r"\bnot (?:found|allowed|permitted|supported|implemented|executed|applied|saved|approved|valid)\b",
    r"\bdoes ?n[o']t exist\b", r"\balready exists\b",
    r"\bfail(?:ed|s|ure|ing)?\b(?!-?over)", r"\bunsuccessful(?:ly)?\b", r"\b(?:an?|with|the following|"
    r"returned|encountered|unexpected|internal|fatal|server|client|runtime|validation|parse|network|api|"
    r"remote|unknown|unhandled|compile|syntax|type|value|system|disk|i/?o|database|sql|permission|tool|"
    r"execution) (?:error|exception|errors)\b",
    r"\b(?:error|exception)s? (?:occurred|while|when|during|executing|calling|in|at|from|invoking|"
    r"processing|running|code)\b",
    r"\b[1-9]\d* (?:errors?|failures?|failed)\b", r"\berrors?\s*[:=]\s*[1-9a-z\"'\[{]",
    r"\btraceback \(most recent", r"\bsegmentation fault\b", r"\bcore dumped\b", r"\bout of memory\b",
    r"\bno space left\b", r"\bquota exceeded\b", r"\brate limit(?:ed| exceeded)\b",
    r"\bread-only file ?system\b", r"\b(?:exit(?:ed)?(?: with)?|return(?:ed)?|status)\s*(?:code|"
    r"status)?\s*[:=]?\s*(?:-\d+|[1-9]\d{0,2})\s*$",
    r"\bexit(?:ed)? (?:with )?(?:code|status)\s*[:=]?\s*-?[1-9]\d*\b", r"\bnon-?zero exit\b",
    r"\bHTTP (?:error |status )?[45]\d\d\b", r"\bstatus(?: code)? (?:of )?[45]\d\d\b",
    r"\bduplicate (?:key|entry)\b", r"\bviolates (?:\S+ )?(?:\S+ )?constraint\b", r"\bconstraint failed\b",
    r"\bdeadlock\b", r"\bsyntax error\b", r"\bORA-\d{4,5}\b",
    r"\bSQLSTATE\b", r"\bPLS-\d+\b", r"\brolled back\b", r"\btransaction (?:was )?aborted\b",
    r"\bdisk full\b", r"\binvalid (?:argument|input|parameter|value|request|"
    r"token|credentials?|command|option|syntax|json|format|name|id|date|path|choice|type|password|user|"
    r"url|address|configuration)\b", r"\bmissing required\b",
    r"\bunknown (?:command|option|argument|host|table|column|tool|database)\b", r"\bvalidation errors?\b",
    r"\bnot a valid\b", r"\bmust (?:be|have|provide|specify)\b",
    # Nothing was done
    r"\bdry[- ]?run\b", r"\b(?:would|will) (?:have )?(?:be )?(?:creat|delet|updat|deploy|push|writ|remov|"
    r"chang|appl|destroy|overwrit|sav|install)\w*\b", r"\bno (?:changes|action) (?:were |was |have been |"
    r"has been )?(?:made|applied|taken|performed)\b", r"\bsimulat(?:ed|ion) (?:only|mode|run)\b",
    r"\b(?:preview|check|test) mode\b", r"\bnothing was (?:changed|done|written|applied|sent|saved|"
    r"executed)\b",
    r"\bskipped\b(?!:\s*0)", r"\bwhat ?if:", r"\bplan only\b",
    # A person said no
    r"\b(?:rejected|declined|denied|refused|cancel?led|aborted|interrupted|stopped|vetoed|blocked) (?:by|"
    r"from|per)\b(?! (?:default|id))",
    r"\b(?:user|human|operator|reviewer|approver|admin\w*|person|he|she) (?:has |did )?(?:rejected|"
    r"declined|denied|refused|cancel?led|aborted|interrupted|not approve|disapproved|said no|vetoed)\b",
    r"\bapproval (?:was )?(?:denied|rejected|refused|required|missing|pending)\b", r"\b(?:awaiting|"
    r"pending|requires?|needs) (?:human |manual )?(?:approval|confirmation)\b",
    r"\b(?:tool call|call|request|action|command|operation|change|deployment|execution) (?:was |"
    r"has been |is )?(?:rejected|declined|denied|refused|aborted|interrupted|blocked)\b",
    r"\binterrupted\b", r"\bkeyboardinterrupt\b", r"\boperation (?:was )?cancel?led\b",
    # Chinese
    r"失败", r"无权限?", r"没有权限", r"权限不足", r"缺少权限", r"未授权", r"未经授权",
    r"(?:拒绝|禁止)访问", r"访问(?:被)?(?:拒绝|禁止)", r"(?:已|被|遭)(?:\S{0,6}?)?(?:拒绝|驳回)", r"驳回",
    r"拒绝(?:了|执行|连接|操作|批准|该)",
    r"未(?:被)?(?:批准|通过|获批|成功|生效|执行|完成|找到|保存|更改|写入|提交|应用)", r"不同意", r"不批准",
    r"审批不通过", r"(?:发生|出现|遇到|产生|返回|存在)(?:了)?(?:\S{0,8}?)(?:错误|异常)",
    r"(?:语法|参数|配置|内部|服务器|系统|网络|连接|命令|格式|数据库|未知|运行时|输入|校验|认证)错误",
    r"错误(?:代码|码|信息|原因)?\s*[:：]", r"异常\s*[:：]",
    r"抛出异常", r"(?:请求|连接|操作|执行|响应|等待|命令)?(?:已)?超时(?![时设阈])",
    r"(?:不存在|未找到|找不到|无法|不支持|无效的?|非法|不合法|不允许|不可用)", r"已存在",
    r"(?:已|被)(?:用户|人工|操作员|管理员)?(?:中断|中止|终止执行|打断)", r"(?:用户|人工|操作员|管理员|"
    r"审批人)(?:已)?(?:取消|拒绝|否决|终止|中止|中断)", r"操作(?:已|被)取消",
    r"(?:试运行|空跑|演练模式|模拟(?:执行|运行|模式)|预演|仅预览)", r"未做任何(?:更改|修改|变更)",
    r"没有(?:做|进行)任何(?:更改|修改)",
    r"(?:等待|需要|待)(?:人工)?(?:审批|确认|批准)", r"已回滚", r"命令未找到", r"密码错误", r"余额不足",
    r"空间不足", r"内存不足", r"已跳过",
)  # fmt: skip
