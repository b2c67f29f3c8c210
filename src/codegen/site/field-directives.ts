import { Kind } from 'graphql';
import type { ConstDirectiveNode, GraphQLField } from 'graphql';

/** What the directives of one field say. */
export interface FieldDirectives {
  readonly alias?: string;
  readonly child: boolean;
  readonly computed?: { readonly needs: readonly string[] };
  readonly dateformat: boolean;
  readonly index: boolean;
  readonly link?: { readonly from: string; readonly to: string };
}

type Field = Pick<GraphQLField<unknown, unknown>, 'astNode'>;

export const findDirective = ({ astNode }: Field, name: string): ConstDirectiveNode | undefined =>
  astNode?.directives?.find((directive) => directive.name.value === name);

/** Arguments of a wrong type read as empty: `checkValues` complains about them. */
export function readDirectives(field: Field): FieldDirectives {
  const has = (name: string): boolean => findDirective(field, name) !== undefined;
  const text = (name: string, argument: string): string => texts(findDirective(field, name), argument)[0] ?? '';
  return {
    ...(has('alias') && { alias: text('alias', 'of') }),
    child: has('child'),
    ...(has('computed') && { computed: { needs: texts(findDirective(field, 'computed'), 'needs') } }),
    dateformat: has('dateformat'),
    index: has('index'),
    ...(has('link') && { link: { from: text('link', 'from'), to: text('link', 'to') } }),
  };
}

function texts(directive: ConstDirectiveNode | undefined, argument: string): string[] {
  const value = directive?.arguments?.find(({ name }) => name.value === argument)?.value;
  if (value?.kind === Kind.STRING) return [value.value];
  if (value?.kind !== Kind.LIST) return [];
  return value.values.filter((item) => item.kind === Kind.STRING).map((item) => item.value);
}
