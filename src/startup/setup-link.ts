/** The setup link of the first account: on a terminal, or in a file that only the server's user can read. */
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FAULT_TEXTS, findStorageFault } from '@trellis/core/storage-faults';
import type { Accounts } from '../accounts/accounts.js';

/** The name of the file in the state folder. */
const SETUP_LINK_FILE = 'setup-link';

/** How soon the file disappears after the link was used, at this or a different server. */
const CHECK_MS = 5_000;

interface SetupLinkOptions {
  readonly origin: string;
  readonly state: string;
  /** Whether `print` writes to a terminal rather than to a log. */
  readonly isTerminal: boolean;
  readonly print: (line: string) => void;
}

/**
 * Offers the setup link until an account exists. Its secret is in the fragment, which browsers never send, so it appears
 * in no access log; and no log of the server's output receives it. A link of an earlier start is offered again while it
 * is valid.
 *
 * @returns a function that stops watching the use of the link.
 */
export async function offerSetupLink(accounts: Accounts, options: SetupLinkOptions): Promise<() => void> {
  const { origin, state, isTerminal, print } = options;
  const file = join(state, SETUP_LINK_FILE);
  const secret = await accounts.setupLink.create(await readSecret(file));
  if (secret === undefined) {
    await rm(file, { force: true }).catch(() => undefined);
    return () => undefined;
  }
  const link = `${origin}/sign-in#setup=${secret}`;
  if (isTerminal) {
    print('No accounts yet. Create the admin account with this link (valid once, for 1 hour):');
    print(link);
    return () => undefined;
  }
  try {
    await writePrivate(file, `${link}\n`);
  } catch (error) {
    const fault = findStorageFault(error);
    if (fault === undefined) throw error;
    print(`No accounts yet, and the setup link can't be written to ${file}: ${FAULT_TEXTS[fault]}.`);
    return () => undefined;
  }
  print(`No accounts yet. The link that creates the admin account (valid once, for 1 hour) is in ${file}`);
  return deleteAfterUse(accounts, file);
}

/** Reads the secret of the file that an earlier start has written. */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /#setup=([\w-]+)/.exec(text)?.[1];
}

async function writePrivate(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

function deleteAfterUse({ registration }: Accounts, file: string): () => void {
  const timer = setInterval(() => {
    registration
      .isOpen()
      .then(async (isOpen) => {
        if (isOpen) return;
        clearInterval(timer);
        await rm(file, { force: true });
      })
      // The next check, or the next start, deletes it.
      .catch(() => undefined);
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}
