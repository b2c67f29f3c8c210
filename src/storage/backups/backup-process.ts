/**
 * The process that creates a scheduled backup: the statements of SQLite block a process, so those of a large backup would
 * hold up the requests of the server for seconds.
 */
import { createBackup } from './backup.js';
import type { BackupReply, BackupRequest } from './schedule.js';
import { openBackupTarget } from './target.js';

const stopped = new AbortController();
const stop = (): void => stopped.abort();

// A service manager may signal all processes of the server. Without the server, the schedule has no holder.
process.on('SIGTERM', stop).on('SIGINT', stop).on('disconnect', stop);

async function run({ place, env, ...request }: BackupRequest): Promise<BackupReply> {
  try {
    const target = await openBackupTarget(place, { folder: request.state, env });
    const { signal } = stopped;
    await createBackup({ ...request, target, signal, force: false, onProgress: () => undefined });
    return {};
  } catch (error) {
    const { name, message, stack } = error as Error;
    return { failure: { name, message, stack } };
  }
}

process.once('message', (request: BackupRequest) => {
  void run(request).then((reply) => process.send?.(reply, () => process.exit()));
});
