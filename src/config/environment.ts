/** Returns the environment unchanged, for commands with options of their own and for the processes that they start. */
export const readEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;
