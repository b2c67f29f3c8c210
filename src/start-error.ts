/** Why the server, or a command, could not start, in one line for the person who started it. No stack is of use to them. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** What the process ends with. */
  readonly exitCode: number = 1;
}

/** The same of a command whose exit codes tell apart why. */
export class CommandFailure extends StartError {
  override readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

interface Places {
  readonly site: string;
  readonly state: string;
  readonly databaseUrl: string | undefined;
}

/** What a person can mend gets one line; anything else keeps its stack. */
export function toStartError(error: unknown, { site, state, databaseUrl }: Places): unknown {
  if (!(error instanceof Error) || error instanceof StartError) return error;
  const code = 'code' in error ? error.code : undefined;
  if (error.name === 'AbortError') return new StartError('stopped before the site was read', { cause: error });
  if (error.name === 'AppError') return new StartError(`TRELLIS_SITE (${site}): ${error.message}`, { cause: error });
  if (error.name === 'StateFolderError') return new StartError(`TRELLIS_STATE (${state}): ${error.message}`);
  if (error.name === 'DatabaseError') {
    return new StartError(
      `${databaseUrl === undefined ? `TRELLIS_STATE (${state})` : 'DATABASE_URL'}: ${error.message}`,
    );
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST') {
    const message = `TRELLIS_STATE (${state}): expected a folder that can be written; ${error.message}`;
    return new StartError(message, { cause: error });
  }
  return error;
}
