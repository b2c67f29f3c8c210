import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { pino } from 'pino';
import { createLineBatches } from '../../src/http/terminal-log.js';

/** Collects what is written, and whether it was requested at once. */
function collect() {
  const writes: string[] = [];
  const flushes: string[] = [];
  const output = {
    write: (text: string) => writes.push(text) > 0,
    flush: () => void flushes.push('later'),
    flushSync: () => void flushes.push('at once'),
  };
  return { writes, flushes, output };
}

describe('batches of log lines', () => {
  test('are written when they are long enough', () => {
    const { writes, flushes, output } = collect();
    const batches = createLineBatches(output, { minBytes: 10, maxBytes: 16 });
    for (const line of ['one\n', 'two\n', 'three\n']) batches.write(line);
    expect(writes).toEqual(['one\ntwo\nthree\n']);
    expect(flushes).toEqual(['later']);
  });

  test('are not longer than allowed, which is counted in bytes', () => {
    const { writes, output } = collect();
    const batches = createLineBatches(output, { minBytes: 10, maxBytes: 12 });
    for (const line of ['ää\n', 'öö\n', 'üü\n', `${'a'.repeat(20)}\n`]) batches.write(line);
    expect(writes).toEqual(['ää\nöö\n', 'üü\n', `${'a'.repeat(20)}\n`]);
  });

  test('are written after a while even if they are short', async () => {
    const written = new Promise<string>((resolve) => {
      const output = {
        write: (text: string) => (resolve(text), true),
        flush: () => undefined,
        flushSync: () => undefined,
      };
      createLineBatches(output).write('one\n');
    });
    expect(await written).toBe('one\n');
  });

  test('are written at once with a warning', () => {
    const { writes, flushes, output } = collect();
    const log = pino({ base: null, timestamp: false }, createLineBatches(output));
    log.info('one');
    expect(writes).toEqual([]);
    log.warn('two');
    expect(writes).toEqual(['{"level":30,"msg":"one"}\n{"level":40,"msg":"two"}\n']);
    expect(flushes).toEqual(['later']);
    log.info('three');
    expect(writes).toHaveLength(1);
  });

  test('are written at once on request', () => {
    const { writes, flushes, output } = collect();
    const batches = createLineBatches(output);
    batches.write('one\n');
    batches.flushSync();
    expect(writes).toEqual(['one\n']);
    expect(flushes).toEqual(['at once']);
  });
});

test('a process continues, and ends, while its log is on a full disk', () => {
  const url = new URL('../../dist/http/request.js', import.meta.url).href;
  const script = `
    const log = (await import('${url}')).createLog({ level: 'info' });
    for (const line of ['one', 'two', 'three']) {
      log.warn(line);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    console.error('continues');
    process.exit(3);`;
  const args = ['--input-type=module', '--eval', script];
  const { status, stderr } = spawnSync(process.execPath, args, {
    ...{ stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'], encoding: 'utf8', timeout: 10_000 },
  });
  expect([status, stderr]).toEqual([3, 'continues\n']);
});
