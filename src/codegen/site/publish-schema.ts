import { Kind, parse, print, specifiedDirectives, visit } from 'graphql';
import type { DefinitionNode, DocumentNode, FieldDefinitionNode } from 'graphql';

const DATE_ARGUMENTS = parse(
  `type _ { _(
    "Returns the time from the date to now in this unit: years, months, weeks, days, hours, minutes or seconds; any other text gives milliseconds."
    difference: String
    "Formats the date, such as \`YYYY-MM-DD\`."
    formatString: String
    "Returns the time relative to now, such as \`5 days ago\`."
    fromNow: Boolean
    "The language of month names and relative times, such as \`de\`."
    locale: String
  ): Int }`,
  { noLocation: true },
);

/**
 * Returns the schema that clients see: the derived types, then the hand-written types with the arguments of dates added
 * and without the directives of the generator.
 */
export const publishSchema = (written: readonly DefinitionNode[], derived: string): string =>
  `${derived.trim()}\n\n${print(publishWritten(written))}\n`;

function publishWritten(written: readonly DefinitionNode[]): DocumentNode {
  return visit({ kind: Kind.DOCUMENT, definitions: written } as DocumentNode, {
    DirectiveDefinition: () => null,
    Directive: ({ name }) => (specifiedDirectives.some((known) => known.name === name.value) ? undefined : null),
    FieldDefinition: (field) => (isFormatted(field) ? { ...field, arguments: dateArguments() } : undefined),
  });
}

const isFormatted = ({ directives, arguments: args = [] }: FieldDefinitionNode): boolean =>
  args.length === 0 && directives?.some(({ name }) => name.value === 'dateformat') === true;

function dateArguments() {
  const [type] = DATE_ARGUMENTS.definitions;
  return type?.kind === Kind.OBJECT_TYPE_DEFINITION ? type.fields?.[0]?.arguments : undefined;
}
