import { spawn } from 'node:child_process';
import { CONFIG_OPTIONS } from './options.js';
import { StartupError } from './startup-error.js';

interface KeySettings {
  readonly serverKey: string | undefined;
  readonly serverKeyCommand: string | undefined;
}

/** Long enough for a request to a key management service, and short enough for a start that waits for it. */
const TIMEOUT_MS = 30_000;

/** A key has 43 characters. */
const MAX_LENGTH = 1_024;

const NAME = CONFIG_OPTIONS.serverKeyCommand.env;
const KEY = /^[\w-]{43}$/;

interface CommandOptions {
  readonly timeoutMs?: number;
  /** Ends the command. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the configuration with the key that its command prints. Without a command, or with a key, it is unchanged.
 *
 * @throws StartError if the command fails, takes longer than 30 seconds, is ended or prints no key. No message contains its output.
 */
export async function withServerKey<Settings extends KeySettings>(
  config: Settings,
  options: CommandOptions = {},
): Promise<Settings> {
  const { serverKey, serverKeyCommand: command } = config;
  if (serverKey !== undefined || command === undefined) return config;
  const printed = (await run(command, options)).trim();
  if (KEY.test(printed)) return { ...config, serverKey: printed };
  throw new StartupError(`${NAME}: expected the command to print ${CONFIG_OPTIONS.serverKey.expected}`);
}

/** Standard error is that of the server. The shell gets a process group, so that its commands end with it. */
function run(command: string, { timeoutMs = TIMEOUT_MS, signal }: CommandOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, detached: !IS_WINDOWS, stdio: ['ignore', 'pipe', 'inherit'] });
    const fail = (why: string): void => {
      stopWaiting();
      endGroup(child.pid);
      child.stdout.destroy();
      reject(new StartupError(`${NAME}: the command ${why}`));
    };
    const timer = setTimeout(() => fail(`took longer than ${timeoutMs / 1_000} seconds`), timeoutMs);
    const onStop = (): void => fail('was ended by a signal');
    const stopWaiting = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onStop);
    };
    signal?.addEventListener('abort', onStop);
    if (signal?.aborted === true) onStop();
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_LENGTH) fail(`printed more than ${MAX_LENGTH} characters`);
    });
    child.on('error', (error) => fail(`can't be started: ${(error as NodeJS.ErrnoException).code ?? error.message}`));
    child.on('close', (code, endedBy) => {
      if (code !== 0) fail(`ended with ${endedBy ?? `exit code ${code ?? 'unknown'}`}`);
      stopWaiting();
      resolve(text);
    });
  });
}

const IS_WINDOWS = process.platform === 'win32';

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(IS_WINDOWS ? pid : -pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}
