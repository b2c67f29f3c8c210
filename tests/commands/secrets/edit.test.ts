import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { eventually } from '../../eventually.js';
import { newName, openSecretsCli, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;
/** A memory file system that only these tests use. */
let memory: string;

beforeAll(async () => {
  cli = await openSecretsCli();
  memory = await mkdtemp('/dev/shm/trellis-test-');
});
afterAll(async () => {
  await rm(memory, { recursive: true });
  await cli.close();
});

const put = async (stdin: Uint8Array | string, name = newName()): Promise<string> => {
  await cli.run(['put', name, '--consumer', cli.consumer], { stdin });
  return name;
};

const read = async (name: string): Promise<string> => (await cli.run(['get', name])).out;

const toEnv = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH ?? '',
  XDG_RUNTIME_DIR: memory,
  ...more,
});

async function writeScript(lines: string): Promise<string> {
  const file = join(cli.folder, newName());
  await writeFile(file, `#!/bin/sh\n${lines}\n`);
  await chmod(file, 0o755);
  return file;
}

/** Runs "edit" with an editor that is a shell script; $1 is the file. */
const edit = async (name: string, script: string, ...args: string[]) =>
  cli.run(['edit', name, ...args], { env: toEnv({ EDITOR: await writeScript(script) }) });

describe('edit', () => {
  test('stores the edited text for the same consumers, without a line break that the editor adds', async () => {
    const name = await put('hunter2');
    const said = await edit(name, 'test "$(cat "$1")" = hunter2 && echo hunter3 > "$1"');
    expect([said.code, said.err]).toEqual([0, expect.stringMatching(/^Replaced the value of .*, sealed to 1 key/)]);
    expect([await read(name), (await cli.run(['get', name, '--at-version', '1'])).out]).toEqual(['hunter3', 'hunter2']);
    await edit(await put('a\n', 'lines'), 'echo b >> "$1"');
    expect(await read('lines')).toBe('a\nb\n');
  });

  test('gives the editor a private file in memory, without credentials, and leaves nothing behind', async () => {
    const name = await put('hunter2');
    const found = join(cli.folder, newName());
    await edit(name, `stat -c "%a %n" "$1" "\${1%/*}" > ${found}; env >> ${found}; : > "\${1%/*}/swap"; echo x > "$1"`);
    const report = await readFile(found, 'utf8');
    expect(report).toMatch(new RegExp(`^600 ${memory}/trellis-secrets-\\w+/${name}\n700 `));
    expect(report).not.toMatch(/TRELLIS_SECRETS_(TOKEN|IDENTITY)=/);
    expect(await readdir(memory)).toEqual([]);
  });

  test.each([
    ['the text is the same', 'true', 0, 'The value was not changed.\n'],
    ['the editor fails', 'echo x > "$1"; exit 1', 1, expect.stringContaining('ended with exit code 1')],
    ['the file is empty', ': > "$1"', 2, expect.stringContaining('The value is empty')],
  ])('changes nothing if %s', async (_reason, script, code, err) => {
    const name = await put('hunter2');
    const said = await edit(name, script);
    expect([said.code, said.err]).toEqual([code, err]);
    expect([await read(name), (await cli.run(['versions', name])).out]).toEqual(['hunter2', 'No versions.\n']);
    expect(await readdir(memory)).toEqual([]);
  });

  test('stops if another request has replaced the value meanwhile', async () => {
    const name = await put('one');
    const other = join(cli.folder, newName());
    const edited = edit(name, `echo two > "$1"; : > ${other}; while test -e ${other}; do sleep 0.05; done`);
    await eventually(async () => void (await stat(other)));
    await cli.run(['rotate', name], { stdin: 'three' });
    await rm(other);
    const { code, err } = await edited;
    expect([code, await read(name)]).toEqual([5, 'three']);
    // The edited text is not lost.
    const [, file = ''] = /trellis secrets rotate \S+ < (\S+)", then delete the file/.exec(err) ?? [];
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['two', 0o600]);
    await rm(dirname(file), { recursive: true });
  });

  test('leaves nothing behind when it is killed', async () => {
    const name = await put('hunter2');
    const started = join(cli.folder, newName());
    const env = { ...cli.env, ...toEnv({ EDITOR: await writeScript(`: > ${started}; sleep 600`) }) };
    const child = spawn(process.execPath, [resolve('dist/cli.js'), 'secrets', 'edit', name], { env, detached: true });
    await eventually(async () => void (await stat(started)));
    expect(await readdir(memory, { recursive: true })).toHaveLength(2);
    child.kill('SIGKILL');
    await eventually(async () => expect(await readdir(memory)).toEqual([]));
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  });
});

describe('run --files', () => {
  test('gives values of any bytes as private files, which are removed at the end', async () => {
    const name = await put(Buffer.from([0, 255, 10]));
    const check = 'printf "%s " "$(stat -c %a "$KEY_FILE")" "${KEY-unset}"; od -An -tx1 "$KEY_FILE"';
    const args = ['run', '--files', '--mask', '--secret', `KEY=${name}`, '--', 'sh', '-c', check];
    expect(await cli.run(args, { env: toEnv() })).toMatchObject({ code: 0, out: '400 unset  00 ff 0a\n' });
    expect(await readdir(memory)).toEqual([]);
  });

  test('removes them if the command is not found', async () => {
    const name = await put('hunter2');
    const said = await cli.run(['run', '--files', '--secret', `KEY=${name}`, '--', './nowhere'], { env: toEnv() });
    expect(said.code).toBe(127);
    expect(await readdir(memory)).toEqual([]);
  });
});

describe('run --watch', () => {
  test('restarts the command with the new value', async () => {
    const name = await put('value one');
    const [log, done] = [join(cli.folder, newName()), join(cli.folder, newName())];
    const script = `echo "$KEY" >> ${log}; while ! test -e ${done}; do sleep 0.05; done; exit 9`;
    const args = ['run', '--watch', '1', '--secret', `KEY=${name}`, '--', 'sh', '-c', script];
    const running = cli.run(args, { env: toEnv() });
    await eventually(async () => expect(await readFile(log, 'utf8')).toBe('value one\n'));
    await cli.run(['label', name, '--description', 'no new value']);
    await cli.run(['rotate', name], { stdin: 'value two' });
    await eventually(async () => expect(await readFile(log, 'utf8')).toBe('value one\nvalue two\n'));
    await writeFile(done, '');
    const { code, err } = await running;
    expect([code, err]).toEqual([9, 'A value has changed; the command is restarted.\n']);
  });

  test.each(['0', 'node', '1.5'])('rejects %s', async (seconds) => {
    expect((await cli.run(['run', '--watch', seconds, '--secret', 'a', '--', 'true'])).code).toBe(2);
  });
});

describe('rotate --hook', () => {
  test('gives the new value to a command, without the credentials', async () => {
    const name = await put('one');
    const file = join(cli.folder, newName());
    const hook = `{ cat; echo; env; } > ${file}; echo done`;
    const said = await cli.run(['rotate', name, '--hook', hook], { stdin: 'two', env: toEnv() });
    expect([said.code, said.out, said.err]).toEqual([0, '', expect.stringMatching(/^Replaced .*\ndone\n$/s)]);
    const found = await readFile(file, 'utf8');
    expect(found).toMatch(/^two\n/);
    expect(found).toContain(`TRELLIS_SECRET=${name}\n`);
    expect(found).not.toMatch(/TRELLIS_SECRETS_(TOKEN|IDENTITY)=/);
  });

  test('reports a failure, and the value stays stored', async () => {
    const name = await put('one');
    const said = await cli.run(['rotate', name, '--hook', 'exit 3'], { stdin: 'two', env: toEnv() });
    expect([said.code, said.err]).toEqual([1, expect.stringContaining('is stored, but its hook failed: exit code 3')]);
    expect([await read(name), said.err.includes('two')]).toEqual(['two', false]);
  });

  test('is rejected without a new value, before anything is stored', async () => {
    expect((await cli.run(['rotate', await put('one'), '--reseal', '--hook', 'true'])).code).toBe(2);
  });
});

describe('inject', () => {
  const inject = async (template: Uint8Array | string, ...args: string[]) =>
    cli.run(['inject', '-', ...args], { stdin: template, env: toEnv() });

  test('replaces placeholders by values, each in its format', async () => {
    const name = await put('a "b"&c\n');
    const template = `{{secret ${name}}}|{{ secret ${name} | json }}|{{secret ${name}|url}}|{{secret ${name} | base64}}`;
    const said = await inject(`${template}|{{secret ${name} | trim}}|{{ other }}`);
    expect([said.code, said.out]).toEqual([
      0,
      'a "b"&c\n|"a \\"b\\"&c\\n"|a%20%22b%22%26c%0A|YSAiYiImYwo=|a "b"&c|{{ other }}',
    ]);
  });

  test('does not read values as templates', async () => {
    const [inner, outer] = [await put('hunter2'), newName()];
    await put(`{{secret ${inner}}}`, outer);
    expect((await inject(`{{secret ${outer}}}`)).out).toBe(`{{secret ${inner}}}`);
  });

  test('writes a private file, and only if every secret was read', async () => {
    const [name, file] = [await put('hunter2'), join(cli.folder, newName())];
    const missing = await inject(`{{secret ${name}}} {{secret nowhere}}`, '--output', file);
    expect(missing.code).toBe(3);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await inject(`x={{secret ${name}}}\n`, '--output', file);
    expect([(await stat(file)).mode & 0o777, await readFile(file, 'utf8')]).toEqual([0o600, 'x=hunter2\n']);
  });

  test('rejects a template in other encodings', async () => {
    const said = await inject(Buffer.from('caf\u00e9', 'latin1'));
    expect([said.code, said.out, said.err]).toEqual([
      2,
      '',
      'trellis: Standard input is not UTF-8 text; convert it first\n',
    ]);
  });

  test('reads only secrets that a map lists', async () => {
    const map = join(cli.folder, `${newName()}.yaml`);
    await writeFile(map, 'secrets: [allowed]\n');
    const said = await inject(`{{secret ${await put('hunter2')}}}`, '--map', map);
    expect([said.code, said.out, said.err]).toEqual([5, '', expect.stringContaining('nothing was read')]);
  });

  test.each(['{{secret}}', '{{secret ../a}}', '{{secret a | shell}}', '{{secret a', '{{ secret a | }}'])(
    'rejects %j with its line',
    async (placeholder) => {
      const said = await inject(`one\n${placeholder}\n`);
      expect([said.code, said.err]).toEqual([2, expect.stringContaining('Line 2 of the template: expected')]);
    },
  );
});
