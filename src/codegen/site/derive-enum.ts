import type { EnumMember } from './derive-members.js';

const DEPRECATED = 'Sorting on fields that need arguments to resolve is deprecated.';

export const deriveFieldsEnum = (kind: string, members: readonly EnumMember[]): string => `
"The fields of ${kind}, its objects and its related records, as paths with \`___\` between the segments."
enum ${kind}FieldsEnum {
${members.map(memberLine).join('\n')}
}`;

const memberLine = ({ name, deprecated }: EnumMember): string =>
  deprecated ? `  ${name} @deprecated(reason: "${DEPRECATED}")` : `  ${name}`;
