"""The words: which verbs change something, which only look, and what makes a noun of a verb."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: The stems of OLAV's description.
STEMS: Final = _words("注册 部署 推送 保存 销毁 写入 记录 发出 导出 摄取 停止 创建 更新 删除 执行 导入")
#: Synonyms of these actions.
SYNONYMS: Final = _words(
    "新建 新增 添加 增加 追加 插入 建立 生成并保存 修改 编辑 变更 调整 替换 重命名 移动 复制 合并 移除"
    " 清除 清空 清理 擦除 设置 设定 配置 下发 提交 发布 发送 发射 上报 上传 上线 下线 启动 重启 重载 关闭"
    " 启用 禁用 开启 停用 激活 暂停 恢复 回滚 撤销 撤回 终止 中止 绑定 解绑 挂载 卸载 安装 升级 降级 迁移"
    " 备份 还原 重置 扩容 缩容 隔离 分配 回收 授权 吊销 注销 登记 签发 预订 预定 订购 购买 下单 支付 付款"
    " 退款 转账 提现 充值 续费 取消 批准 审批 驳回 归档 锁定 解锁 封禁 解封 转发 回复 通知 邀请 分享 关注"
    " 释放 切换 同步 标记 重建 分派 指派"
    " 订阅 退订 触发 调度 入库 录入 采集入库 存储 存入 落盘 推广 投递 刷新配置 打开工单 写 建 删 改"
)
READS: Final = _words(
    "查询 查看 获取 列出 显示 展示 检查 检测 校验 验证 搜索 检索 统计 计算 是否 有无 能否 可否 读取 浏览"
    " 分析 对比 比较 预览 下载 查找 寻找 诊断 测试 评估 估算 预测 解析 解释 翻译 总结 汇总 描述 监控 观察"
    " 跟踪 追踪 模拟 演练 试运行 计划 规划 推荐 建议 登录 登出 连接 断开连接 生成 比对 确认是否 如何 怎么"
    " 查 看 读 列 取 问 算 测"
)
#: Before a verb they make an adjective or a time of it: 已删除用户, 最近更新, 待执行任务.
ADJECTIVES: Final = _words(
    "已 已经 被 未 待 可 正在 最近 上次 最后 最新 历史 新近 不可 不能 尚未 应 需 允许 禁止 刚 所有已"
)
#: After any verb they make a noun of it: 创建时间, 更新日志, 导出进度.
NOUNS: Final = _words("时间 日期 次数 进度 频率 速度 耗时 间隔 条数 总数")
PERSONS: Final = _words("者 人 率 员")
#: The same unless the verb is one that edits them: 导出格式列表 and 创建方式, but 更新数量 and 清空历史.
EDITED_NOUNS: Final = _words("历史 原因 方式 数量 格式")
EDITS: Final = _words("更新 删除 清空 清除 移除 保存 写入 添加 新增 记录 设置 设定 修改 调整 编辑 改 删")
#: The same only after these verbs, which name things too: 部署状态, 执行任务进度.
THINGS: Final = _words("部署 执行 推送 注册 配置 变更 审批 授权 调度 升级 迁移 安装 订阅 分配")
THING_NOUNS: Final = _words(
    "状态 结果 日志 计划 列表 清单 详情 明细 信息 类型 选项 报告 统计 摘要 数 概况 概览 总览 记录 队列"
    " 编号 名称 码 项"
)
THING_ENDS: Final = _words("状态 进度 详情 历史")
#: After these the thing is mostly what is exported or recorded: 导出日志, 记录信息.
BACKUP_NOUNS: Final = _words("列表 清单 详情 明细 记录 计划 策略 文件列表")
TRANSFERS: Final = _words("导出 导入 备份 发布 停止 通知")
TRANSFER_NOUNS: Final = _words("状态 进度 类型 选项 队列 任务列表 记录列表")
RECORD_NOUNS: Final = _words("列表 清单 详情 明细 类型 统计 摘要 数 条目 编号 名称 总览 概览")
UPDATE_NOUNS: Final = _words("日志 说明 列表 提示")
FINAL_READS: Final = _words("查询 搜索 检索 查看 检查 分析 对比 预览 校验")
#: At the end of a name they are things: 操作记录, 设备配置.
FINAL_NOUNS: Final = _words("记录 配置 设置 变更 通知 计划 建 改 写 删 调度")
#: A change of these is the agent's own note: 写入待办.
SCAFFOLDING: Final = _words("待办 待办列表 待办事项 草稿本 思考 想法")
