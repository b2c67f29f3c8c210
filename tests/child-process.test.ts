import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from './eventually.js';

/** Starts a process that starts a second one by `spawnNode`, and returns the first one with the id of the second. */
async function startTwo() {
  const script = `
    import { spawnNode } from './tests/child-process.ts';
    const child = spawnNode(['-e', 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000)']);
    console.log(child.pid);
    setInterval(() => undefined, 1000);`;
  const parent = spawn(
    process.execPath,
    ['--conditions=trellis-source', '--import', 'tsx', '--input-type=module', '-e', script],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  return { parent, pid: Number(line.toString()) };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM'])(
  'a started process ends when its parent is ended by %s',
  async (signal) => {
    const { parent, pid } = await startTwo();
    expect(isRunning(pid)).toBe(true);
    parent.kill(signal);
    await once(parent, 'exit');
    await eventually(() => expect(isRunning(pid)).toBe(false));
  },
);
