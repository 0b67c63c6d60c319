/** The command line as a function, for tests and for programs that embed it. */

export { commandLine, main } from "./main.ts";
