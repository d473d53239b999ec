"""The names of fields that tell how a call went, and the words that stand in them; English and Chinese."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FAILED: Final = _words(
    "aborted blocked canceled cancelled crashed declined denied disapproved error errored exception"
    " expired fail failed failure fatal forbidden interrupted invalid ko not_authorized not_found refused"
    " rejected rolled_back skipped timed_out timeout unauthorized unavailable unsuccessful dry_run"
    " simulated no_op noop 失败 错误 异常 超时 拒绝 已拒绝 被拒绝 已驳回 驳回 无权限 权限不足 未授权"
    " 已取消 已中断 已中止 未通过 不通过 无效 已跳过 已回滚 未执行"
)
FINE: Final = _words(
    "accepted active applied closed committed complete completed created deleted deployed done exported"
    " finished ok okay passed pushed queued ready registered removed resolved running saved sent stopped"
    " success succeeded successful true updated written 成功 完成 已完成 正常 已创建 已更新 已删除 已部署"
)
STATUS: Final = _words(
    "status state outcome result_status job_status task_status operation_status stop_reason 状态 结果"
    " 执行结果 执行状态"
)
FLAGS: Final = _words(
    "ok success succeeded successful is_success issuccess was_successful approved 成功 是否成功"
)
BAD_FLAGS: Final = _words(
    "is_error iserror has_error has_errors failed failure rejected denied aborted interrupted timed_out"
    " timedout blocked dry_run dryrun simulated simulate check_mode whatif what_if preview_only"
    " cancelled_by_user is_dry_run 试运行"
)
ERRORS: Final = _words(
    "error errors err exception exceptions error_message errormessage error_msg errmsg error_detail"
    " error_details error_type errortype fault faults traceback stack_trace failure_reason failurereason"
    " 错误 错误信息 异常 失败原因"
)
EXIT_CODES: Final = _words(
    "exit_code exitcode return_code returncode retcode rc exit_status exitstatus errno errcode err_code"
    " 退出码 返回码"
)
HTTP: Final = _words(
    "status_code statuscode http_status httpstatus http_code httpcode http_status_code response_code"
    " responsecode"
)
MESSAGES: Final = _words(
    "message msg detail details reason text output stdout info note description_of_result response_text"
    " 消息 信息 提示 说明 原因 输出"
)
ENVELOPES: Final = _words(
    "result results response data body payload content output structuredcontent structured_content"
    " artifact 结果 数据"
)
NO_ERROR: Final = frozenset(
    (
        "",
        "none",
        "null",
        "nil",
        "no error",
        "no errors",
        "n/a",
        "ok",
        "success",
        "0",
        "false",
        "无",
        "没有",
        "无错误",
        "-",
    )
)
