import { Kind } from 'graphql';
import type { ConstDirectiveNode, ConstValueNode, GraphQLField, StringValueNode } from 'graphql';

export interface LinkEnds {
  readonly from: string | undefined;
  readonly to: string;
}

/** The directives of one field. */
export interface FieldDirectives {
  readonly alias?: string;
  readonly child: boolean;
  readonly computed?: { readonly needs: readonly string[] };
  readonly dateformat: boolean;
  readonly index: boolean;
  /** Without `from`, the field has a column of its own for the keys. */
  readonly link?: LinkEnds;
}

/** An element with directives: a field or a type definition. */
interface Marked {
  readonly astNode?: { readonly directives?: readonly ConstDirectiveNode[] | undefined } | null | undefined;
}

export const findDirective = ({ astNode }: Marked, name: string): ConstDirectiveNode | undefined =>
  astNode?.directives?.find((directive) => directive.name.value === name);

/** Reads the directives of a field. Arguments of a wrong type count as empty, as `checkValues` reports them. */
export function readDirectives(field: Pick<GraphQLField<unknown, unknown>, 'astNode'>): FieldDirectives {
  const has = (name: string): boolean => findDirective(field, name) !== undefined;
  const text = (name: string, argument: string): string | undefined => texts(findDirective(field, name), argument)[0];
  return {
    ...(has('alias') && { alias: text('alias', 'of') ?? '' }),
    child: has('child'),
    ...(has('computed') && { computed: { needs: texts(findDirective(field, 'computed'), 'needs') } }),
    dateformat: has('dateformat'),
    index: has('index'),
    ...(has('link') && { link: { from: text('link', 'from'), to: text('link', 'to') ?? 'id' } }),
  };
}

const texts = (directive: ConstDirectiveNode | undefined, argument: string): string[] =>
  findTexts(directive, argument).map(({ value }) => value);

/** Returns the texts in an argument, which is a single text or a list. */
export function findTexts(directive: ConstDirectiveNode | undefined, argument: string): readonly StringValueNode[] {
  const value = directive?.arguments?.find(({ name }) => name.value === argument)?.value;
  return (value?.kind === Kind.LIST ? value.values : [value]).filter(isText);
}

const isText = (value: ConstValueNode | undefined): value is StringValueNode => value?.kind === Kind.STRING;
