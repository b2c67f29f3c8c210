import { CONTENT_EXTENSIONS } from '@trellis/core/record-types';
import { type ConstDirectiveNode, type DefinitionNode, Kind, type ObjectTypeExtensionNode } from 'graphql';
import { type DiagnosticList, findTexts, isRecordDefinition, SOURCES } from './sdl.js';

/** Checks that each `@source` is on a record type and that its patterns match files of the site only. */
export function checkSources(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) {
      checkExtension(definition.directives, diagnostics);
      if (WRITTEN_BY_SERVER.includes(definition.name.value)) checkUnwritten(definition, diagnostics);
    }
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const { name: type, directives } = definition;
    const source = directives?.find(({ name }) => name.value === 'source');
    if (source === undefined) continue;
    if (!isRecordDefinition(definition))
      diagnostics.add(source, `@source is only allowed on @record types; ${type.value} is not one.`);
    checkGlobs(source, diagnostics);
  }
}

/** Record directives are allowed on the definition of a type only, so that readers find them in one place. */
function checkExtension(directives: readonly ConstDirectiveNode[] = [], diagnostics: DiagnosticList): void {
  for (const directive of directives.filter(({ name }) => ['record', 'source'].includes(name.value))) {
    const name = `@${directive.name.value}`;
    diagnostics.add(directive, `${name} is not allowed on an extension. Move it to the definition of the type.`);
  }
}

/** The types whose values come from the server, which would never write a field that a project adds. */
export const WRITTEN_BY_SERVER: readonly string[] = [
  ...['Directory', 'File', 'ImageProc', 'Internal', 'PageInfo'],
  ...['Site', 'SiteBuildMetadata', 'SitePage', 'SiteSiteMetadata'],
];

/** Reports the stored fields that a document adds to a type whose values come from the server. */
function checkUnwritten({ name: type, fields = [] }: ObjectTypeExtensionNode, diagnostics: DiagnosticList): void {
  for (const field of fields) {
    const directive = field.directives?.find(({ name }) => SOURCES.some((source) => source === name.value));
    const given = directive?.arguments?.map(({ name }) => name.value) ?? [];
    const isStored =
      directive === undefined || (directive.name.value === 'link' && !given.includes('from') && !given.includes('by'));
    if (!isStored) continue;
    const message = `Nothing writes ${type.value}.${field.name.value}: the server writes the records of this type.`;
    diagnostics.add(field, `${message} Use @computed, @alias, @child or @link(by:).`);
  }
}

function checkGlobs(source: ConstDirectiveNode, diagnostics: DiagnosticList): void {
  const glob = source.arguments?.find(({ name }) => name.value === 'glob')?.value;
  if (glob?.kind === Kind.LIST && glob.values.length === 0)
    diagnostics.add(glob, 'Expected at least one pattern; received an empty list.');
  for (const text of findTexts(source, 'glob')) {
    if (!isBelowSite(text.value)) {
      const expected = "Expected a pattern of files below the site's folder, such as `content/*.md`";
      diagnostics.add(text, `${expected}; received "${text.value}".`);
    }
    for (const extension of listExtensions(text.value).filter((one) => !isReadable(one))) {
      const expected = `Expected a pattern of files with records (${CONTENT_EXTENSIONS.join(', ')})`;
      diagnostics.add(text, `${expected}; received files with the extension "${extension}".`);
    }
  }
}

/** Lists the extensions that a pattern names: one for `*.md`, two for `*.{md,json}`, and none for `*`. */
function listExtensions(glob: string): readonly string[] {
  const [, one, several] = /\.(?:([\w-]+)|\{([\w,-]+)\})$/.exec(glob) ?? [];
  return one === undefined ? (several?.split(',') ?? []) : [one];
}

const isReadable = (extension: string): boolean =>
  CONTENT_EXTENSIONS.some((known) => known === extension.toLowerCase());

/** Rejects patterns that are empty, absolute or negated, or have a segment `.` or `..`. */
const isBelowSite = (glob: string): boolean =>
  glob.trim() !== '' && !/^(?:[/\\]|[A-Za-z]:|!(?!\())/.test(glob) && !DOTS.test(glob);

/** Such a segment may also be an alternative in a pattern: `{..,a}/*.md`. */
const DOTS = /(?:^|[/{,(|])\.{1,2}(?=$|[/},)|])/;
