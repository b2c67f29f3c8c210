import { Kind } from 'graphql';
import type { ConstDirectiveNode, DefinitionNode } from 'graphql';
import { isRecordDefinition } from './complete-records.js';
import { findTexts } from './field-directives.js';
import type { MistakeList } from './mistakes.js';

/** Whether each `@source` stands on a kind of record and names files of the site. */
export function checkSources(definitions: readonly DefinitionNode[], mistakes: MistakeList): void {
  for (const definition of definitions) {
    if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) checkExtension(definition.directives, mistakes);
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) continue;
    const { name: type, directives } = definition;
    const source = directives?.find(({ name }) => name.value === 'source');
    if (source === undefined) continue;
    if (!isRecordDefinition(definition))
      mistakes.add(source, `Expected @source on a @record type; ${type.value} is none.`);
    checkGlobs(source, mistakes);
  }
}

/** Only the definition of a type says what kind of record it is, so that a reader finds it in one place. */
function checkExtension(directives: readonly ConstDirectiveNode[] = [], mistakes: MistakeList): void {
  for (const directive of directives.filter(({ name }) => ['record', 'source'].includes(name.value))) {
    const name = `@${directive.name.value}`;
    mistakes.add(directive, `Expected ${name} where the type is defined; received it on an extension.`);
  }
}

function checkGlobs(source: ConstDirectiveNode, mistakes: MistakeList): void {
  const glob = source.arguments?.find(({ name }) => name.value === 'glob')?.value;
  if (glob?.kind === Kind.LIST && glob.values.length === 0)
    mistakes.add(glob, 'Expected at least one pattern; received an empty list.');
  for (const text of findTexts(source, 'glob')) {
    if (isBelowSite(text.value)) continue;
    const expected = "Expected a pattern of files below the site's folder, such as `content/*.md`";
    mistakes.add(text, `${expected}; received "${text.value}".`);
  }
}

/** Not empty or absolute, without a step `.` or `..`, and no pattern of what to leave out. */
const isBelowSite = (glob: string): boolean =>
  glob.trim() !== '' && !/^(?:[/\\]|[A-Za-z]:|!(?!\())/.test(glob) && !DOTS.test(glob);

/** Such a step may also stand among the choices of a pattern: `{..,a}/*.md`. */
const DOTS = /(?:^|[/{,(|])\.{1,2}(?=$|[/},)|])/;
