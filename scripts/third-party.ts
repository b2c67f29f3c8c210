/**
 * Packages whose code is part of the build. Production does not install them, and the bill of materials lists them.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build, type BuildOptions } from 'esbuild';

/** A module of a package that re-exports parts of others, which are bundled in its place. */
interface Bundle {
  /** The folder of our package. */
  readonly folder: string;
  /** The name of the module below `src` and `dist`. */
  readonly module: string;
  /** The packages that esbuild includes. */
  readonly packages: readonly string[];
  /** Packages of which our own modules have the parts that are used. */
  readonly replaced?: Readonly<Record<string, string>>;
  /** Modules that the module imports late, and their files in the folder `parts` beside it. */
  readonly parts?: Readonly<Record<string, string>>;
  /** The imported names of parts that are CommonJS modules, whose exports esbuild cannot list. */
  readonly names?: Readonly<Record<string, string>>;
}

/** The validator of JSON Schema with its dependencies. */
const AJV = ['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'];

const BUNDLES: readonly Bundle[] = [
  {
    folder: 'packages/server',
    module: 'mcp/sdk',
    packages: [...['@modelcontextprotocol/sdk', ...AJV, 'ajv-formats', 'zod', 'zod-to-json-schema']],
  },
  { folder: 'packages/site', module: 'config/ajv', packages: AJV },
  { folder: 'packages/site', module: 'config/parser', packages: ['@babel/parser'] },
  {
    folder: 'packages/site',
    module: 'markdown/libraries',
    packages: [
      ...['@ungap/structured-clone', 'bail', 'ccount', 'character-entities', 'character-entities-html4'],
      ...['character-entities-legacy', 'character-reference-invalid', 'comma-separated-tokens'],
      ...['decode-named-character-reference', 'devlop', 'escape-string-regexp', 'extend', 'github-slugger'],
      ...['hast-util-from-parse5', 'hast-util-parse-selector', 'hast-util-raw', 'hast-util-sanitize'],
      ...['hast-util-to-html', 'hast-util-to-parse5', 'hast-util-whitespace', 'hastscript', 'html-void-elements'],
      ...['is-alphabetical', 'is-alphanumerical', 'is-decimal', 'is-hexadecimal', 'is-plain-obj', 'longest-streak'],
      ...['markdown-table', 'mdast-util-find-and-replace', 'mdast-util-from-markdown', 'mdast-util-gfm'],
      ...['mdast-util-gfm-autolink-literal', 'mdast-util-gfm-footnote', 'mdast-util-gfm-strikethrough'],
      ...['mdast-util-gfm-table', 'mdast-util-gfm-task-list-item', 'mdast-util-phrasing', 'mdast-util-to-hast'],
      ...['mdast-util-to-markdown', 'mdast-util-to-string', 'micromark', 'micromark-core-commonmark'],
      ...['micromark-extension-gfm', 'micromark-extension-gfm-autolink-literal', 'micromark-extension-gfm-footnote'],
      ...['micromark-extension-gfm-strikethrough', 'micromark-extension-gfm-table'],
      ...['micromark-extension-gfm-tagfilter', 'micromark-extension-gfm-task-list-item'],
      ...['micromark-factory-destination', 'micromark-factory-label', 'micromark-factory-space'],
      ...['micromark-factory-title', 'micromark-factory-whitespace', 'micromark-util-character'],
      ...['micromark-util-chunked', 'micromark-util-classify-character', 'micromark-util-combine-extensions'],
      ...['micromark-util-decode-numeric-character-reference', 'micromark-util-decode-string'],
      ...['micromark-util-edit-map', 'micromark-util-encode', 'micromark-util-html-tag-name'],
      ...['micromark-util-normalize-identifier', 'micromark-util-resolve-all', 'micromark-util-sanitize-uri'],
      ...['micromark-util-subtokenize', 'parse-entities', 'parse5', 'property-information', 'refractor'],
      ...['rehype-raw', 'rehype-sanitize', 'rehype-stringify', 'remark-gfm', 'remark-parse', 'remark-rehype'],
      ...['remark-stringify', 'space-separated-tokens', 'stringify-entities', 'trim-lines', 'trough', 'unified'],
      ...['unist-util-is', 'unist-util-position', 'unist-util-stringify-position', 'unist-util-visit'],
      ...['unist-util-visit-parents', 'vfile', 'vfile-location', 'vfile-message', 'web-namespaces', 'zwitch'],
    ],
  },
  { folder: 'packages/site', module: 'sources/content/csv', packages: ['csv-parse'] },
  { folder: 'packages/site', module: 'query/luxon', packages: ['luxon'] },
  { folder: '.', module: 'config/ajv', packages: AJV },
  {
    folder: '.',
    module: 'accounts/simplewebauthn',
    packages: [
      ...['@hexagon/base64', '@levischuck/tiny-cbor', '@peculiar/asn1-android', '@peculiar/asn1-asym-key'],
      ...['@peculiar/asn1-cms', '@peculiar/asn1-csr', '@peculiar/asn1-ecc', '@peculiar/asn1-pfx'],
      ...['@peculiar/asn1-pkcs8', '@peculiar/asn1-pkcs9', '@peculiar/asn1-rsa', '@peculiar/asn1-schema'],
      ...['@peculiar/asn1-x509', '@peculiar/asn1-x509-attr', '@peculiar/asn1-x509-post-quantum'],
      ...['@peculiar/utils', '@peculiar/x509', '@simplewebauthn/server', 'asn1js', 'pvtsutils', 'pvutils'],
      ...['reflect-metadata', 'tslib', 'tsyringe'],
    ],
  },
  { folder: '.', module: 'dashboard/csv', packages: ['csv-stringify'] },
  { folder: '.', module: 'dashboard/notifications/nodemailer', packages: ['nodemailer'] },
  {
    folder: '.',
    module: 'telemetry/metrics/prom-client',
    packages: ['@opentelemetry/api', 'bintrees', 'prom-client', 'tdigest'],
  },
  { folder: '.', module: 'dashboard/insights/luxon', packages: ['luxon'] },
  { folder: '.', module: 'storage/kysely', packages: ['kysely'] },
  {
    folder: '.',
    module: 'commands/secrets/program',
    packages: [
      ...['@colors/colors', '@noble/ciphers', '@noble/curves', '@noble/hashes', '@noble/post-quantum', '@scure/base'],
      ...['age-encryption', 'ansi-regex', 'cli-table3', 'commander', 'dotenv', 'emoji-regex'],
      ...['is-fullwidth-code-point', 'openapi-fetch', 'string-width', 'strip-ansi', 'yaml'],
    ],
    parts: {
      './secrets-command.js': 'all',
      '../../sealing/secrets.js': 'sealing',
      '../../sealing/ed25519.js': 'ed25519',
      yaml: 'yaml',
      'cli-table3': 'table',
      '@trellis/server/mcp/stdio': 'mcp',
    },
    names: {
      yaml: 'isMap, isScalar, parse, parseDocument',
      'cli-table3': 'default',
      '../../sealing/ed25519.js': 'ed25519',
    },
  },
  {
    folder: '.',
    module: 'telemetry/tracing/opentelemetry',
    packages: [
      ...['@opentelemetry/api', '@opentelemetry/api-logs', '@opentelemetry/core'],
      ...['@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/otlp-exporter-base'],
      ...['@opentelemetry/otlp-transformer', '@opentelemetry/resources', '@opentelemetry/sdk-metrics'],
      ...['@opentelemetry/sdk-trace', '@opentelemetry/sdk-trace-base', '@opentelemetry/semantic-conventions'],
    ],
  },
  { folder: 'packages/images', module: 'render/potrace-module', packages: ['potrace'] },
  { folder: 'packages/images', module: 'render/svgo-module', packages: ['svgo'] },
  {
    folder: 'packages/codegen',
    module: 'openapi/third-party',
    packages: [
      ...['@cfworker/json-schema', '@redocly/openapi-core', 'agent-base', 'ansi-colors', 'change-case', 'colorette'],
      ...[
        'debug',
        'has-flag',
        'https-proxy-agent',
        'js-yaml',
        'ms',
        'openapi-typescript',
        'pluralize',
        'supports-color',
      ],
    ],
    replaced: { typescript: 'packages/codegen/src/openapi/type-nodes.ts' },
  },
];

/** The files that pages load, by package. */
const COPIES: Readonly<Record<string, readonly string[]>> = {
  graphiql: ['graphiql.min.css', 'graphiql.min.js'],
  react: ['umd/react.production.min.js'],
  'react-dom': ['umd/react-dom.production.min.js'],
  'swagger-ui-dist': ['swagger-ui.css', 'swagger-ui-bundle.js'],
};

const COPIES_OWNER = 'packages/server';

/** The names of all packages whose code is part of the build. */
export const INCLUDED_PACKAGES: readonly string[] = [
  ...Object.keys(COPIES),
  ...BUNDLES.flatMap(({ packages }) => packages),
];

/** Returns the names of the packages whose code is part of a module of one of our packages. */
export const listIncluded = (module: string): readonly string[] =>
  BUNDLES.find((bundle) => bundle.module === module)?.packages ?? [];

/** Adds the code of these packages, and their licences, to what the compiler wrote. */
export async function addThirdParty(): Promise<void> {
  const vendor = path.join(COPIES_OWNER, 'dist/pages/vendor');
  for (const [name, files] of Object.entries(COPIES)) {
    for (const file of files)
      await copyTo(path.join(folderOf(name, COPIES_OWNER), file), path.join(vendor, name, file));
    await copyLicences(name, COPIES_OWNER);
  }
  for (const bundle of BUNDLES) await addBundle(bundle);
}

/** Lets CommonJS modules of a bundle load the built-in modules of Node. */
const REQUIRE = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);`;

async function addBundle({ folder, module, packages, replaced = {}, parts = {}, names = {} }: Bundle): Promise<void> {
  const target = path.join(folder, 'dist', path.dirname(module));
  const source = path.join(folder, 'src', path.dirname(module));
  const main = { entryPoints: [`${folder}/src/${module}.ts`], outdir: target };
  const { metafile } = await bundle(main, { replaced, parts, partsFolder: './parts', source });
  const inputs = Object.keys(metafile.inputs);
  for (const [specifier, name] of Object.entries(parts)) {
    const file = specifier.startsWith('.') ? `./${path.join(source, specifier).replace(/js$/u, 'ts')}` : specifier;
    const exported = names[specifier] ?? '*';
    const stdin = {
      contents: `export { ${exported} } from '${file}';`.replace('{ * }', '*'),
      resolveDir: process.cwd(),
    };
    const part = { stdin, outfile: path.join(target, 'parts', `${name}.js`) };
    const late = await bundle(part, { replaced, parts, partsFolder: '.', source });
    inputs.push(...Object.keys(late.metafile.inputs));
  }
  // The compiler's map, of the module without the packages.
  await rm(`${folder}/dist/${module}.js.map`, { force: true });
  const found = new Set(inputs.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(file)?.[1] ?? []));
  if ([...found].toSorted().join() !== packages.toSorted().join()) {
    throw new Error(`scripts/third-party.ts must list the packages of ${module}: ${[...found].toSorted().join(', ')}.`);
  }
  for (const name of packages) await copyLicences(name, folder);
}

interface BundleSettings extends Required<Pick<Bundle, 'replaced' | 'parts'>> {
  /** The folder of the parts, from that of the module. */
  readonly partsFolder: string;
  /** The folder of the source of the module, which relative parts start from. */
  readonly source: string;
}

/** Returns the file of a relative import, and the name of another. */
const toPlace = (specifier: string, folder: string): string =>
  specifier.startsWith('.') ? path.resolve(folder, specifier) : specifier;

/** Writes a module with the packages that it imports. `parts` stay imports, of the files that are written for them. */
function bundle(files: Pick<BuildOptions, 'entryPoints' | 'outdir' | 'outfile' | 'stdin'>, settings: BundleSettings) {
  const { replaced, parts, partsFolder, source } = settings;
  // Modules in other folders write other paths of a part.
  const byPlace = new Map(Object.entries(parts).map(([specifier, name]) => [toPlace(specifier, source), name]));
  return build({
    ...files,
    bundle: true,
    banner: { js: REQUIRE },
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minifyWhitespace: true,
    // Shorter text loads faster, which matters for a command.
    minifyIdentifiers: Object.keys(parts).length > 0,
    metafile: true,
    alias: Object.fromEntries(Object.entries(replaced).map(([name, file]) => [name, path.resolve(file)])),
    logLevel: 'warning',
    plugins: [
      {
        name: 'parts',
        setup: (hooks) =>
          hooks.onResolve({ filter: /./ }, ({ path: specifier, importer, resolveDir }) => {
            // The text that exports a part has no importer.
            if (importer === '<stdin>') return undefined;
            const name = byPlace.get(toPlace(specifier, resolveDir));
            return name === undefined ? undefined : { path: `${partsFolder}/${name}.js`, external: true };
          }),
      },
    ],
  });
}

async function copyLicences(name: string, owner: string): Promise<void> {
  const source = folderOf(name, owner);
  for (const file of (await readdir(source)).filter((file) => /^(?:license|licence|notice)/iu.test(file))) {
    await copyTo(path.join(source, file), path.join(owner, 'dist/licenses', name, file));
  }
}

async function copyTo(source: string, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true });
  await copyFile(source, target);
}

/** Returns the folder of a package that `owner` resolves. */
function folderOf(name: string, owner: string): string {
  const paths = createRequire(path.resolve(owner, 'package.json')).resolve.paths(name) ?? [];
  return paths.map((folder) => path.join(folder, name)).find((folder) => existsSync(folder)) ?? name;
}
