import { FAULT_TEXTS, findStorageFault } from '@trellis/core/storage';

/** A failure to start the server or a command. Its message is one line for the operator, shown without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartError';
  /** The exit code of the process. */
  readonly exitCode: number = 1;
}

/** A failure of a command, with an exit code that identifies the reason. */
export class CommandError extends StartupError {
  override readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Returns the message of a thrown value as one line. */
export const oneLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, ' ').trim();

interface ConfiguredPaths {
  readonly site: string;
  readonly state: string;
  readonly databaseUrl: string | undefined;
}

/** Converts errors that an operator can fix to a {@link StartupError} of one line. Returns other errors unchanged. */
export function toStartupError(error: unknown, { site, state, databaseUrl }: ConfiguredPaths): unknown {
  if (!(error instanceof Error) || error instanceof StartupError) return error;
  const code = 'code' in error ? error.code : undefined;
  if (error.name === 'AbortError') return new StartupError('stopped during the scan of the site', { cause: error });
  if (error.name === 'AppError' && code === 'unavailable') return new StartupError(error.message, { cause: error });
  if (error.name === 'AppError') return new StartupError(`TRELLIS_SITE (${site}): ${error.message}`, { cause: error });
  if (error.name === 'StateFolderError') return new StartupError(`TRELLIS_STATE (${state}): ${error.message}`);
  if (error.name === 'DatabaseError') {
    return new StartupError(
      `${databaseUrl === undefined ? `TRELLIS_STATE (${state})` : 'DATABASE_URL'}: ${error.message}`,
    );
  }
  const fault = findStorageFault(error);
  if (fault !== undefined && code !== 'EACCES' && code !== 'EROFS') {
    return new StartupError(`TRELLIS_STATE (${state}): ${FAULT_TEXTS[fault]}`, { cause: error });
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST') {
    const message = `TRELLIS_STATE (${state}): the folder is not writable: ${error.message}`;
    return new StartupError(message, { cause: error });
  }
  return error;
}
