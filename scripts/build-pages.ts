import { fileURLToPath } from 'node:url';
import { digestTexts, findText, readFolder, writeFiles } from '@trellis/codegen/documents';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Digests of the inputs and outputs of the latest successful build. */
const STAMP = '.cache/pages.json';
const OUTPUT = 'dist/pages';
const FOLDERS = ['src/web/app', 'packages/client/src', 'src/board-stream', 'src/sealing', 'src/generated'];
const FILES = [
  'packages/core/src/concurrency.ts',
  'vite.config.js',
  'tsconfig.json',
  'package-lock.json',
  'scripts/build-pages.ts',
];

/** Builds the pages. The bundler is loaded only if an input changed. */
export async function buildPages(): Promise<void> {
  const inputs = await digestInputs();
  const last = JSON.parse((await findText(STAMP)) ?? '{}') as { inputs?: string; outputs?: string };
  if (last.inputs === inputs && last.outputs === (await digestOutputs())) return;
  process.stderr.write('Building the pages…\n');
  const { build } = await import('vite');
  await build({ configFile: 'vite.config.js' });
  // In a file of its own: a shared one would bring the styles of the pages to GraphiQL and the API reference.
  await build({
    configFile: 'vite.config.js',
    build: {
      emptyOutDir: false,
      manifest: 'tools.json',
      rolldownOptions: {
        input: 'src/web/app/palette/tool-palette.tsx',
        // The palette lists the pages of the application, but never draws them.
        external: /-(?:page|layout)\.js$/,
        output: { codeSplitting: false },
      },
    },
  });
  const stamp = { inputs, outputs: await digestOutputs() };
  await writeFiles('.', new Map([[STAMP, JSON.stringify(stamp)]]));
}

async function digestInputs(): Promise<string> {
  const files = await Promise.all(FILES.map(async (file) => [file, (await findText(file)) ?? ''] as const));
  const folders = await Promise.all(FOLDERS.map(async (folder) => [...(await readFolder(folder))]));
  return digestTexts([...files, ...folders.flat()]);
}

const digestOutputs = async (): Promise<string> => digestTexts(await readFolder(OUTPUT));

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPages();
