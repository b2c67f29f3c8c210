import { Kind } from 'graphql';
import type { ConstDirectiveNode, DefinitionNode } from 'graphql';
import { isRecordDefinition } from './add-node-fields.js';
import { findTexts } from './field-directives.js';
import type { DiagnosticList } from './diagnostics.js';

/** Checks that each `@source` is on a record type and that its patterns match files of the site only. */
export function checkSources(definitions: readonly DefinitionNode[], diagnostics: DiagnosticList): void {
  for (const definition of definitions) {
    if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) checkExtension(definition.directives, diagnostics);
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

function checkGlobs(source: ConstDirectiveNode, diagnostics: DiagnosticList): void {
  const glob = source.arguments?.find(({ name }) => name.value === 'glob')?.value;
  if (glob?.kind === Kind.LIST && glob.values.length === 0)
    diagnostics.add(glob, 'Expected at least one pattern; received an empty list.');
  for (const text of findTexts(source, 'glob')) {
    if (isBelowSite(text.value)) continue;
    const expected = "Expected a pattern of files below the site's folder, such as `content/*.md`";
    diagnostics.add(text, `${expected}; received "${text.value}".`);
  }
}

/** Rejects patterns that are empty, absolute or negated, or have a segment `.` or `..`. */
const isBelowSite = (glob: string): boolean =>
  glob.trim() !== '' && !/^(?:[/\\]|[A-Za-z]:|!(?!\())/.test(glob) && !DOTS.test(glob);

/** Such a segment may also be an alternative in a pattern: `{..,a}/*.md`. */
const DOTS = /(?:^|[/{,(|])\.{1,2}(?=$|[/},)|])/;
