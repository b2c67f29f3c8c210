import type { Command } from 'commander';
import { CommandError } from '../../config/startup-error.js';
import { openStoredValue } from './age/open-value.js';
import { fetchSealedValues } from './authentic-values.js';
import { type CommandContext, withContext } from './context.js';
import { EXIT, readNamed } from './options.js';
import { MAP_FILE, readSecretsMap, type SecretsMap } from './run/secrets-map.js';
import { addConnectionOptions, type ConnectionOptions, writePrivateFile } from './settings.js';
import { type Terminal, readText, writeOutput } from './terminal.js';

interface InjectOptions extends ConnectionOptions {
  readonly output?: string;
  readonly map?: string;
}

/** `trellis secrets inject`: replaces the names of secrets in a template by their values. */
export function addInjectCommand(secrets: Command, terminal: Terminal): void {
  const inject = secrets
    .command('inject')
    .description('Print a template with the values of its secrets')
    .argument('<template>', 'file with placeholders; - for standard input')
    .option('--output <file>', 'write to a file with mode 0600 instead of standard output')
    .option('--map <file>', `file with the allowed secrets (default: ${MAP_FILE}, if it exists)`)
    .addHelpText(
      'after',
      `
{{secret db-password}} becomes the value. A format encodes it for its place: {{secret db-password | json}} for a string
in JSON or YAML, | url for a part of a URL, | base64, and | trim without white space at both ends.

Example:
  trellis secrets inject app.conf.tmpl --output /run/app/app.conf`,
    );
  addConnectionOptions(inject).action((file: string, flags: InjectOptions) =>
    withContext(terminal, flags, (session) => injectValues(session, file, flags)),
  );
}

async function injectValues(session: CommandContext, file: string, flags: InjectOptions): Promise<void> {
  const template = await readText(file, session.terminal);
  const placeholders = parseTemplate(template);
  assertListed(placeholders, await readSecretsMap(flags.map));
  const values = await openAll(session, new Set(placeholders.map(({ slug }) => slug)));
  let text = '';
  let end = 0;
  for (const { start, length, slug, format } of placeholders) {
    text += template.slice(end, start) + FORMATS[format](values.get(slug) ?? Buffer.alloc(0), slug);
    end = start + length;
  }
  text += template.slice(end);
  if (flags.output === undefined) await writeOutput(session.terminal.out, text);
  else await writePrivateFile(flags.output, text);
}

interface Placeholder {
  readonly start: number;
  readonly length: number;
  readonly slug: string;
  readonly format: Format;
}

type Format = 'base64' | 'json' | 'text' | 'trim' | 'url';

const FORMATS: Readonly<Record<Format, (value: Buffer, slug: string) => string>> = {
  text: toText,
  trim: (value, slug) => toText(value, slug).trim(),
  json: (value, slug) => JSON.stringify(toText(value, slug)),
  url: (value, slug) => encodeURIComponent(toText(value, slug)),
  base64: (value) => value.toString('base64'),
};

const PLACEHOLDER = /\{\{\s*secret\s+([A-Za-z0-9][\w-]{0,127})\s*(?:\|\s*(\w{1,20})\s*)?\}\}/y;

/** @throws CommandError with the line of a placeholder that is not valid. */
function parseTemplate(template: string): Placeholder[] {
  return [...template.matchAll(/\{\{\s*secret\b/g)].map(({ index: start }) => {
    PLACEHOLDER.lastIndex = start;
    const [all, slug = '', format = 'text'] = PLACEHOLDER.exec(template) ?? [];
    if (all !== undefined && isFormat(format)) return { start, length: all.length, slug, format };
    const line = template.slice(0, start).split('\n').length;
    const formats = Object.keys(FORMATS).slice(1).join(', ');
    const expected = `{{secret name}} or {{secret name | format}} with one of the formats ${formats}`;
    throw new CommandError(`Line ${line} of the template: expected ${expected}`, EXIT.usage);
  });
}

const isFormat = (format: string): format is Format => Object.hasOwn(FORMATS, format);

/** A template can be changed by others, so a map says which values it may contain. */
function assertListed(placeholders: readonly Placeholder[], map: SecretsMap | undefined): void {
  const other = placeholders.find(({ slug }) => map?.entries.every((entry) => entry.slug !== slug) === true);
  if (other === undefined) return;
  throw new CommandError(`${map?.file ?? MAP_FILE} does not list ${other.slug}; nothing was read`, EXIT.conflict);
}

async function openAll(session: CommandContext, slugs: ReadonlySet<string>): Promise<ReadonlyMap<string, Buffer>> {
  const values = new Map<string, Buffer>();
  if (slugs.size === 0) return values;
  const identity = await session.readIdentity();
  const names = [...slugs];
  const sealed = await fetchSealedValues(
    session,
    names.map((slug) => ({ slug })),
  );
  for (const [index, slug] of names.entries()) {
    const value = sealed[index] ?? new Uint8Array();
    values.set(slug, Buffer.from(await readNamed(slug, () => openStoredValue(value, identity, session.terminal))));
  }
  return values;
}

function toText(value: Buffer, slug: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    throw new CommandError(`The value of ${slug} is not text; use {{secret ${slug} | base64}}`, EXIT.usage);
  }
}
