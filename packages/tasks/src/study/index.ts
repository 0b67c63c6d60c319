/** The tasks as studies. Products that use the kernels never load it. */

export { findTask, study, taskIds, taskStudy } from "./study.ts";
export { runTasks, type TaskReport, type TasksOptions, type TasksReport } from "./run.ts";
export { filesTable, taskCommands, tasksTable } from "./evidence.ts";
