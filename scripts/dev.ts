import { type ChildProcess, spawn } from 'node:child_process';
import { build } from 'vite';

const SOURCES = ['--conditions=trellis-source', '--import', 'tsx', 'src/cli.ts', 'serve', ...process.argv.slice(2)];

/**
 * Serves from the sources: `npm run dev -- --site <dir>`. Node restarts the server after a change to its files, and the
 * bundler builds changed pages again. `npm run generate -- --watch` follows changes to contracts.
 * Worker threads and rendering processes run from the build, which npm makes first: restart the command to rebuild them.
 */
async function develop(): Promise<void> {
  const watcher = await build({ configFile: 'vite.config.js', build: { watch: {} } });
  if (!('on' in watcher)) throw new Error('Expected a bundler that watches.');
  let server: ChildProcess | undefined;
  const start = (): void => {
    server = spawn(process.execPath, ['--watch', '--watch-preserve-output', ...SOURCES], { stdio: 'inherit' });
  };
  // The server reads the pages when it starts, and its port is free after the end of the last one.
  watcher.on('event', ({ code }) => {
    if (code !== 'END') return;
    if (server === undefined) start();
    else if (server.listenerCount('exit') === 0) server.once('exit', start).kill();
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server?.removeListener('exit', start);
      server?.once('exit', () => process.exit()).kill();
      void watcher.close();
    });
  }
}

await develop();
