import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Compiles a folder below `.cache` with the settings of the repository. Returns the errors. */
export async function compile(folder: string): Promise<readonly string[]> {
  const config = { extends: '../../tsconfig.json', include: ['.'], compilerOptions: { types: ['node'] } };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = spawn(process.execPath, ['node_modules/typescript7/bin/tsc', '-p', folder, '--pretty', 'false']);
  let output = '';
  compiler.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    compiler.on('error', reject).on('close', () => resolve(output.split('\n').filter((line) => line !== '')));
  });
}
