import { AppError } from '@trellis/core/errors';
import type { ErrorObject, JSONSchemaType } from 'ajv/dist/2020.js';
import { Ajv2020 } from './ajv.js';
import type { SiteConfigInput } from './site-config.js';

const text = { type: 'string', minLength: 1, maxLength: 1024 };
const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
/** A relative path inside the site's folder. */
const RELATIVE = '^(?!/)(?!(.*/)?\\.\\.(/|$))';

/** A relative glob that is not a negation, which would allow everything else. */
const ALLOWED = '^(?![/!])';

/** Other names could be those of folders, or the beginning of a URL. */
const ALIAS = '^[@~$][\\w./-]{0,100}$';

const list = (items: object) => ({ type: 'array', items, maxItems: 1000 });

/** The bounds keep a broken file from creating a million records; no real site comes near them. */
const SITE_CONFIG_SCHEMA = object({
  $schema: text,
  siteMetadata: { ...object({ author: text, description: text, title: text }), additionalProperties: true },
  pathPrefix: { ...text, minLength: 0, pattern: '^(/[\\w.~-]+)*/?$' },
  host: text,
  port: { anyOf: [{ type: 'integer', minimum: 0, maximum: 65535 }, text] },
  polyfill: { type: 'boolean' },
  dates: { enum: ['auto', 'luxon', 'moment'] },
  sources: list(object({ name: text, path: text, ignore: list(text) }, ['name', 'path'])),
  plugins: list({ anyOf: [text, object({ resolve: text, options: { type: 'object' } }, ['resolve'])] }),
  pages: list(object({ path: { ...text, pattern: '^/' }, component: text, matchPath: text }, ['path', 'component'])),
  queries: { ...text, pattern: RELATIVE },
  dotfiles: { enum: ['exclude', 'include'] },
  allow: list({ ...text, maxLength: 500, pattern: ALLOWED }),
  images: object({ recipes: { enum: ['any', 'stored'] } }),
  markdown: object({
    sanitize: { type: 'boolean' },
    highlight: { type: 'boolean' },
    imageWidth: { type: 'integer', minimum: 1, maximum: 4096 },
  }),
  aliases: { type: 'object', propertyNames: { pattern: ALIAS }, additionalProperties: text, maxProperties: 100 },
}) as unknown as JSONSchemaType<SiteConfigInput>;

/** Compiles the schema for the first configuration, as most sites have none. Its tests are its check. */
const compileSchema = () =>
  new Ajv2020({ allowUnionTypes: true, verbose: true, validateSchema: false }).compile(SITE_CONFIG_SCHEMA);

let compiled: ReturnType<typeof compileSchema> | undefined;

/**
 * Returns the configuration unchanged if it is valid.
 *
 * @param file The file's name, for the message.
 * @throws AppError `invalid_input` with the place in the file, the rule and the received value.
 */
export function validateSiteConfig(written: unknown, file: string): SiteConfigInput {
  const isWritten = (compiled ??= compileSchema());
  if (isWritten(written)) return written;
  throw new AppError('invalid_input', `${file}: ${describe(isWritten.errors?.[0])}`);
}

function describe(error: ErrorObject | undefined): string {
  if (error === undefined) return 'not a valid site configuration.';
  const at =
    error.instancePath
      .slice(1)
      .replaceAll(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.') || 'the configuration';
  const { additionalProperty, allowedValues, missingProperty } = error.params as Record<string, unknown>;
  if (typeof additionalProperty === 'string') {
    const known = Object.keys((error.parentSchema as { properties: object }).properties).filter(
      (key) => key !== '$schema',
    );
    return `${at}: expected one of ${known.join(', ')}; received "${additionalProperty}".`;
  }
  if (typeof missingProperty === 'string') return `${at}: "${missingProperty}" is missing.`;
  const wanted = Array.isArray(allowedValues)
    ? `one of ${allowedValues.join(', ')}`
    : error.keyword === 'pattern'
      ? wantedPath(error)
      : (error.message ?? 'another value');
  return `${at}: expected ${wanted.replace(/^must (be )?/, '')}; received ${JSON.stringify(error.data).slice(0, 80)}.`;
}

const PATTERNS: Readonly<Record<string, string>> = {
  [ALIAS]: 'a name that begins with "@", "~" or "$", such as "@/assets"',
  [ALLOWED]: 'a glob on the path below a source, such as ".well-known/**"',
  [RELATIVE]: 'a glob within the site\'s folder, such as "queries/*.graphql"',
};

const wantedPath = ({ params }: ErrorObject): string =>
  PATTERNS[String(params.pattern)] ?? 'a path that starts with a slash, such as "/blog"';
