import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoaderVariable } from '../../../src/commands/secrets/run/selection.js';
import { collect, runCli } from '../../running-server.js';
import { newName, openSecretsCli, openUnstableAddress, type SecretsCli } from './secrets-cli.js';

let cli: SecretsCli;

beforeAll(async () => {
  cli = await openSecretsCli();
  await cli.run(['put', 'db-password', '--consumer', cli.consumer, '--tag', 'prod'], { stdin: 'hunter2\n' });
  await cli.run(['put', '2nd-key', '--consumer', cli.consumer, '--tag', 'prod'], { stdin: 'two' });
  await cli.run(['put', 'bytes', '--recipient', cli.recipient], { stdin: Buffer.from([0, 255]) });
});
afterAll(() => cli.close());

const waitFor = async (read: () => string, text: string): Promise<void> => {
  while (!read().includes(text)) await sleep(10);
};

const waitForExit = async (child: ChildProcess): Promise<number | null> => {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
};

/** Runs a program in a folder to its end. */
async function runProgram(program: string, args: readonly string[], options: { cwd: string; env: object }) {
  const child = spawn(program, args, { ...options, env: { ...options.env, PATH: process.env.PATH } });
  const [out, err] = [child.stdout, child.stderr].map((stream) => text(stream));
  return { code: await waitForExit(child), out: await out, err: await err };
}

describe('run', () => {
  const SHELL_PATH = { PATH: process.env.PATH ?? '' };

  test('passes secrets by their own or a chosen variable, without the credentials of the command line', async () => {
    const program = 'console.log(JSON.stringify(process.env)); process.exit(7)';
    const args = ['secrets', 'run', '--tag', 'prod', '--secret', 'PGPASSWORD=db-password', '--', 'node', '-e', program];
    const child = runCli(args, { ...cli.env, KEPT: 'yes' });
    const read = collect(child);
    expect(await waitForExit(child)).toBe(7);
    const env = JSON.parse(read()) as Record<string, string>;
    expect(env).toMatchObject({ DB_PASSWORD: 'hunter2\n', PGPASSWORD: 'hunter2\n', _2ND_KEY: 'two', KEPT: 'yes' });
    expect(env.TRELLIS_SECRETS_SERVER).toBe(cli.server);
    expect(Object.keys(env)).not.toContain('TRELLIS_SECRETS_TOKEN');
    expect(Object.keys(env)).not.toContain('TRELLIS_SECRETS_IDENTITY');
  });

  test('forwards signals and returns the exit code', async () => {
    const program = `process.on('SIGTERM', () => { console.log('signal'); process.exit(5); });
      console.log('up'); setInterval(() => undefined, 1000);`;
    const child = runCli(['secrets', 'run', '--secret', 'db-password', '--', 'node', '-e', program], cli.env);
    const read = collect(child);
    await waitFor(read, 'up');
    child.kill('SIGTERM');
    expect([await waitForExit(child), read()]).toEqual([5, 'up\nsignal\n']);
  });

  test('does not forward Ctrl+C, which a terminal also sends to the program, if standard input is a pipe', async () => {
    const program = `let count = 0;
      process.on('SIGINT', () => (count += 1) === 1 && process.kill(process.ppid, 'SIGTERM'));
      process.on('SIGTERM', () => { console.log('interrupts:', count); process.exit(); });
      console.log('up'); setInterval(() => undefined, 1000);`;
    const file = join(cli.folder, 'interrupts.mjs');
    await writeFile(file, program);
    const command = `echo yes | '${process.execPath}' dist/cli.js secrets run --secret db-password -- node ${file}`;
    const env = { ...cli.env, ...SHELL_PATH };
    const child = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const read = collect(child);
    await waitFor(read, 'up');
    child.stdin.write('\x03');
    await once(child, 'close');
    expect(read()).toContain('interrupts: 1');
  });

  describe('a variable that changes how programs load code', () => {
    const tag = 'loader';
    const check = ['--', 'sh', '-c', 'test "$LD_LIBRARY_PATH" = /nowhere'];

    beforeAll(async () => {
      for (const name of ['ld-library-path', 'plain']) {
        await cli.run(['put', name, '--consumer', cli.consumer, '--tag', tag], { stdin: '/nowhere' });
      }
    });

    test.each(['--tag', '--consumer'])('is rejected if %s selects it, before the program starts', async (flag) => {
      const file = join(cli.folder, 'started');
      const said = await cli.run(['run', flag, flag === '--tag' ? tag : cli.consumer, '--', 'touch', file], {
        env: SHELL_PATH,
      });
      expect([said.code, said.err]).toEqual([5, expect.stringContaining('ld-library-path would set LD_LIBRARY_PATH')]);
      await expect(access(file)).rejects.toThrow('ENOENT');
    });

    test('is rejected if it makes a build run code', async () => {
      const file = join(cli.folder, 'built');
      await cli.run(['put', 'makeflags', '--consumer', cli.consumer, '--tag', 'build'], {
        stdin: `--eval=$(shell touch ${file})`,
      });
      const said = await cli.run(['run', '--tag', 'build', '--', 'make', '--version'], { env: SHELL_PATH });
      expect([said.code, said.err]).toEqual([5, expect.stringContaining('makeflags would set MAKEFLAGS')]);
      await expect(access(file)).rejects.toThrow('ENOENT');
    });

    test('is rejected if it is a command of trellis secrets', async () => {
      const file = join(cli.folder, 'asked');
      await cli.run(['put', 'trellis-secrets-token-command', '--consumer', cli.consumer, '--tag', 'nested'], {
        stdin: `touch ${file}`,
      });
      const nested = [process.execPath, 'dist/cli.js', 'secrets', 'list'];
      const child = runCli(['secrets', 'run', '--tag', 'nested', '--', ...nested], cli.env);
      const read = collect(child);
      expect(await waitForExit(child)).toBe(5);
      expect(read()).toContain('would set TRELLIS_SECRETS_TOKEN_COMMAND');
      await expect(access(file)).rejects.toThrow('ENOENT');
    });

    test('is not hidden in a name that only a manipulated service could return', async () => {
      const [name, file] = ['PATH=X', join(cli.folder, 'hidden')];
      const folder = join(cli.folder, newName());
      await mkdir(folder);
      await writeFile(join(folder, 'build'), `#!/bin/sh\n: > '${file}'`, { mode: 0o700 });
      await cli.run(['put', 'hidden', '--consumer', cli.consumer, '--tag', 'hidden'], { stdin: `:${folder}` });
      const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        const url = new URL((request.url ?? '').replace(encodeURIComponent(name), 'hidden'), cli.server);
        const found = await fetch(url, { headers: { authorization: request.headers.authorization ?? '' } });
        const isList = found.headers.get('content-type')?.includes('json') === true;
        const bytes = Buffer.from(await found.arrayBuffer());
        const body = isList ? bytes.toString().replaceAll('"slug":"hidden"', `"slug":${JSON.stringify(name)}`) : bytes;
        const headers = [...found.headers].filter(([header]) => /^(?:content-type|x-|etag)/.test(header));
        response.writeHead(found.status, Object.fromEntries(headers)).end(body);
      };
      const service = createServer((request, response) => void forward(request, response));
      await once(service.listen(0, '127.0.0.1'), 'listening');
      const server = `http://127.0.0.1:${(service.address() as AddressInfo).port}/secrets`;
      try {
        const run = ['run', '--server', server, '--tag', 'hidden', '--', '/bin/sh', '-c', 'build'];
        const said = await cli.run(run, { env: SHELL_PATH });
        await expect(access(file)).rejects.toThrow('ENOENT');
        expect(said).toMatchObject({ code: 1, err: expect.stringContaining('invalid name of a secret') as string });
      } finally {
        service.close();
      }
    });

    test('is set if --secret names it', async () => {
      const named = ['run', '--tag', tag, '--secret', 'LD_LIBRARY_PATH=ld-library-path', ...check];
      expect(await cli.run(named, { env: SHELL_PATH })).toMatchObject({ code: 0, err: '' });
    });

    test.each([
      'PATH',
      'LUA_INIT_5_4',
      'CARGO_BUILD_RUSTC_WRAPPER',
      'NODE_OPTIONS',
      'BASH_ENV',
      'DYLD_INSERT_LIBRARIES',
      'npm_config_script_shell',
      'PYTHONPATH',
      'RESTIC_PASSWORD_COMMAND',
      'BORG_PASSCOMMAND',
      'SOPS_AGE_KEY_CMD',
      'SBT_OPTS',
      'KUBE_EDITOR',
    ])('isLoaderVariable: %s changes how programs load code', (variable) =>
      expect(isLoaderVariable(variable)).toBe(true),
    );

    test.each(['DB_PASSWORD', 'PATHS', 'CARGO_REGISTRY_TOKEN', 'LDAP_PASSWORD', 'GITHUB_TOKEN', 'RESTIC_PASSWORD'])(
      'isLoaderVariable: %s is harmless',
      (variable) => expect(isLoaderVariable(variable)).toBe(false),
    );
  });

  describe('with a map', () => {
    const write = async (content: string): Promise<string> => {
      const file = join(cli.folder, `${newName()}.yaml`);
      await writeFile(file, content);
      return file;
    };
    const shell = (script: string) => ['--', 'sh', '-c', script];

    test('selects the secrets of the map, by its variables', async () => {
      const file = await write('secrets:\n  PGPASSWORD: db-password\n  NODE_OPTIONS: 2nd-key\n');
      const check = 'test -n "$PGPASSWORD" && test "$NODE_OPTIONS" = two && test -z "$DB_PASSWORD"';
      expect(await cli.run(['run', '--map', file, ...shell(check)], { env: SHELL_PATH })).toMatchObject({ code: 0 });
      const list = await write('secrets: [2nd-key]\n');
      const said = await cli.run(['run', '--map', list, ...shell('test "$_2ND_KEY" = two')], { env: SHELL_PATH });
      expect(said).toMatchObject({ code: 0, err: '' });
    });

    test('rejects a selected secret that it does not list, before the program starts', async () => {
      const file = await write('secrets:\n  PGPASSWORD: db-password\n');
      const started = join(cli.folder, 'started-with-map');
      const args = ['run', '--map', file, '--tag', 'prod', '--', 'touch', started];
      const said = await cli.run(args, { env: SHELL_PATH });
      expect([said.code, said.err]).toEqual([5, expect.stringContaining(`${file} does not list 2nd-key`)]);
      await expect(access(started)).rejects.toThrow('ENOENT');
    });

    test('is read from the current folder', async () => {
      const folder = join(cli.folder, newName());
      await mkdir(folder);
      await writeFile(join(folder, 'trellis.secrets.yaml'), 'secrets: { ONLY: db-password }\n');
      const args = ['run', '--', process.execPath, '-p', 'process.env.ONLY + process.env.DB_PASSWORD'];
      const said = await runProgram(process.execPath, [resolve('dist/cli.js'), 'secrets', ...args], {
        cwd: folder,
        env: cli.env,
      });
      expect(said).toEqual({ code: 0, out: 'hunter2\nundefined\n', err: '' });
    });

    test.each([
      ['secrets: [', 'not valid YAML'],
      ['secrets: {}', 'expected "secrets"'],
      ['secrets: { A: a }\nextra: 1', 'expected "secrets"'],
      ['secrets: { A-B: a }', 'expected "secrets"'],
      ['secrets: ["../a"]', 'expected "secrets"'],
      ['a: &a [x]\nsecrets: *a', 'Alias resolution is disabled'],
      [`secrets: [a]\n#${'x'.repeat(65_536)}`, 'expected at most 65536 bytes'],
    ])('rejects %j', async (content, message) => {
      const said = await cli.run(['run', '--map', await write(content), '--', 'true'], { env: SHELL_PATH });
      expect([said.code, said.err]).toEqual([2, expect.stringContaining(message)]);
    });

    test('must exist if it is named', async () => {
      const said = await cli.run(['run', '--map', '/nowhere.yaml', '--', 'true'], { env: SHELL_PATH });
      expect([said.code, said.err]).toEqual([
        2,
        expect.stringContaining("/nowhere.yaml: the file can't be read: ENOENT"),
      ]);
    });
  });

  test('--mask: replaces the values in the output of the program', async () => {
    const script = 'printf "password=%s\\n" "$DB_PASSWORD"; printf "%s" "$DB_PASSWORD" | base64 >&2; exit 3';
    const args = ['run', '--mask', '--secret', 'db-password', '--secret', '2nd-key', '--', 'sh', '-c', script];
    const said = await cli.run(args, { env: SHELL_PATH });
    expect(said).toMatchObject({ code: 3, out: 'password=***\n', err: 'Too short to mask: _2ND_KEY\n***\n' });
  });

  describe('with a consumer token', () => {
    let env: Record<string, string>;

    beforeAll(async () => {
      const mint = ['tokens', 'mint', '--consumer', 'host-1', '--description', 'host'];
      env = { ...SHELL_PATH, TRELLIS_SECRETS_TOKEN: (await cli.run(mint)).out.trim() };
      await cli.run(['consumers', 'add', 'host-1', '--key', cli.recipient]);
      const put = ['put', 'host-key', '--consumer', 'host-1', '--consumer', cli.consumer, '--tag', 'prod'];
      await cli.run(put, { stdin: 'mine' });
    });

    test.each([[[]], [['--tag', 'prod']], [['--consumer', 'host-1']]])(
      'passes all secrets of the consumer with the options %j, and no others',
      async (options) => {
        const check = ['sh', '-c', 'test "$HOST_KEY" = mine && test -z "$DB_PASSWORD"'];
        expect(await cli.run(['run', ...options, '--', ...check], { env })).toMatchObject({ code: 0, err: '' });
      },
    );

    test('lists the secrets of the consumer', async () => {
      const listed = JSON.parse((await cli.run(['list', '--json'], { env })).out) as {
        slug: string;
        used_by: string[];
      }[];
      expect(listed.map(({ slug, used_by }) => [slug, used_by])).toEqual([['host-key', ['host-1']]]);
    });

    test('gets nothing of a different consumer', async () => {
      const said = await cli.run(['run', '--consumer', cli.consumer, '--', 'true'], { env });
      expect([said.code, said.err]).toEqual([3, `trellis: No secrets have the consumer ${cli.consumer}\n`]);
    });

    test('is rejected from an address outside its range', async () => {
      const mint = ['tokens', 'mint', '--consumer', 'host-1', '--description', 'host', '--address', '192.0.2.0/24'];
      const token = (await cli.run(mint)).out.trim();
      const said = await cli.run(['list'], { env: { ...env, TRELLIS_SECRETS_TOKEN: token } });
      expect([said.code, said.err]).toEqual([4, 'trellis: The token must not be used from this address\n']);
      const [wrong] = [await cli.run([...mint.slice(0, -1), '10.0.0.0/40'])];
      expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('Expected an IP address or range')]);
    });
  });

  const run = (...args: string[]) => cli.run(['run', '--secret', 'db-password', '--', ...args], { env: SHELL_PATH });

  test.each<[string, string[], number, string?]>([
    ['the command succeeds', ['true'], 0],
    ['the command exits with 3', ['sh', '-c', 'exit 3'], 3],
    ['the command is killed', ['sh', '-c', 'kill -KILL $$'], 137],
    ['the command is not found', ['no-such-program'], 127, 'trellis: no-such-program: command not found\n'],
    ['the command cannot be run', ['/'], 126, "trellis: /: the command can't be run: EACCES\n"],
    ['the command is empty', [''], 126, 'trellis: The command is empty\n'],
    ['the arguments contain -- and options', ['sh', '-c', 'exit $#', '--', '--tag', 'x'], 2],
  ])('returns the exit code when %s', async (_reason, command, code, err = '') => {
    expect(await run(...command)).toEqual({ code, out: '', bytes: Buffer.alloc(0), err });
  });

  // Other systems have other limits.
  const testOnLinux = process.platform === 'linux' ? test : test.skip;
  testOnLinux('reports a value that is too long for a variable, which can be a file', async () => {
    await cli.run(['put', 'long', '--consumer', cli.consumer], { stdin: 'a'.repeat(2 ** 17) });
    const started = (...options: string[]) =>
      cli.run(['run', '--secret', 'long', ...options, '--', 'true'], { env: SHELL_PATH });
    const { code, err } = await started();
    expect([code, err]).toEqual([126, 'trellis: true: the values are too long for variables; use --files\n']);
    expect((await started('--files')).code).toBe(0);
  });

  test.each([
    [['--', 'true'], 2, 'Select secrets with --secret, --tag, --consumer or', 'no secret selected'],
    [
      ['--secret', '9=db-password', '--', 'true'],
      2,
      'Expected --secret to be a name or VARIABLE=name',
      'an invalid variable',
    ],
    [['--tag', 'nothing', '--', 'true'], 3, 'No secrets have the tag nothing', 'an unknown tag'],
    [['--secret', 'nothing', '--', 'true'], 3, 'nothing: unknown object', 'an unknown secret'],
    [['--secret', 'bytes', '--', 'true'], 2, 'is not text without NUL', 'a binary value'],
    [
      ['--tag', 'prod', '--secret', 'db-password', '--', 'true'],
      5,
      'Several secrets would set DB_PASSWORD',
      'the same variable twice',
    ],
    [['--secret', 'db-password'], 2, "missing required argument 'command'", 'no command'],
  ])('rejects %j with exit code %i and "%s": %s', async (args, code, message) => {
    const said = await cli.run(['run', ...args], { env: SHELL_PATH });
    expect([said.code, said.out]).toEqual([code, '']);
    expect(said.err).toContain(message);
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)('run --watch: %s ends it while it restarts the command', async (signal) => {
  const name = newName();
  await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'one' });
  const go = join(cli.folder, newName());
  const script = `trap 'echo stopping; while ! test -e ${go}; do sleep 0.05; done; exit 9' TERM
    trap '' INT
    echo begin
    while :; do sleep 0.05; done`;
  const args = ['secrets', 'run', '--watch', '1', '--secret', `KEY=${name}`, '--', 'sh', '-c', script];
  const child = runCli(args, cli.env);
  const read = collect(child);
  await waitFor(read, 'begin');
  await cli.run(['rotate', name], { stdin: 'two' });
  await waitFor(read, 'stopping');
  const ended = once(child, 'exit');
  child.kill(signal);
  await writeFile(go, '');
  expect(await ended).toEqual([9, null]);
  expect(read().match(/^begin$/gm)).toHaveLength(1);
});

test('audit --follow: prints each new entry once', async () => {
  const name = newName();
  const child = runCli(['secrets', 'audit', '--follow', '--json', '--limit', '1', '--object', name], cli.env);
  const read = collect(child);
  // Entries are written until the first is printed, as the start of the process is not observable.
  while (!read().includes('"create"')) {
    await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'value' });
    await cli.run(['delete', name, '--yes']);
    await sleep(200);
  }
  await waitFor(read, '"delete"');
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
  const ids = read()
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});

test('audit --follow: continues after a restart of the server, and reports each reason once', async () => {
  const [name, address] = [newName(), await openUnstableAddress(cli.server)];
  const env = { ...cli.env, TRELLIS_SECRETS_SERVER: address.server };
  const child = runCli(['secrets', 'audit', '--follow', '--json', '--all', '--object', name], env);
  const read = collect(child);
  await cli.run(['put', name, '--recipient', cli.recipient], { stdin: 'value' });
  await waitFor(read, '"create"');
  await address.close();
  await waitFor(read, "Can't read new entries");
  await cli.run(['delete', name, '--yes']);
  await sleep(2_000);
  await address.open();
  await waitFor(read, '"delete"');
  child.kill('SIGINT');
  await address.close();
  // A request may be interrupted before others are refused.
  const reasons = read().match(/Can't read new entries.*/g) ?? [];
  expect(reasons).toEqual([...new Set(reasons)]);
});

test.each([['--version'], ['secrets --help'], ['--help']])(
  'prints no error if the reader of the output has ended: %s',
  async (command) => {
    const child = spawn(process.execPath, [resolve('dist/cli.js'), ...command.split(' ')]);
    child.stdout.destroy();
    expect(await text(child.stderr)).toBe('');
  },
);
