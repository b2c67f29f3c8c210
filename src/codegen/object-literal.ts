import type { Expression, Node, ObjectLiteralElementLike, ObjectLiteralExpression, Statement } from 'typescript';

/** The position of an object literal in its text, in characters. */
export interface ObjectLiteral {
  open: number;
  /** The end of the last member, or the position after the opening brace if there are no members. */
  lastEnd: number;
  close: number;
  members: ReadonlySet<string>;
  hasSpread: boolean;
  /** Whether the last member lacks a trailing comma. */
  needsComma: boolean;
}

/** Finds the object literal that the top-level constant or function `name` declares or returns. */
export async function findLiteral(file: string, text: string, name: string): Promise<ObjectLiteral | undefined> {
  const { default: ts } = await import('typescript');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const literal = source.statements.map(declared).find((found) => found !== undefined);
  return literal && describe(literal);

  function declared(statement: Statement): ObjectLiteralExpression | undefined {
    if (ts.isFunctionDeclaration(statement))
      return statement.name?.text === name ? returned(statement.body) : undefined;
    if (!ts.isVariableStatement(statement)) return undefined;
    const declaration = statement.declarationList.declarations.find(
      (candidate) => ts.isIdentifier(candidate.name) && candidate.name.text === name,
    );
    return declaration?.initializer && unwrap(declaration.initializer);
  }

  function unwrap(expression: Expression): ObjectLiteralExpression | undefined {
    if (ts.isObjectLiteralExpression(expression)) return expression;
    if (ts.isArrowFunction(expression)) return returned(expression.body);
    if (
      ts.isParenthesizedExpression(expression) ||
      ts.isAsExpression(expression) ||
      ts.isSatisfiesExpression(expression)
    )
      return unwrap(expression.expression);
    return undefined;
  }

  function returned(body: Node | undefined): ObjectLiteralExpression | undefined {
    if (body === undefined) return undefined;
    if (!ts.isBlock(body)) return unwrap(body as Expression);
    const last = body.statements.findLast(ts.isReturnStatement);
    return last?.expression && unwrap(last.expression);
  }

  function describe({ properties, end }: ObjectLiteralExpression & Node): ObjectLiteral {
    const last = properties.at(-1);
    return {
      open: properties.pos - 1,
      lastEnd: last?.end ?? properties.pos,
      close: end - 1,
      members: new Set(properties.flatMap(memberName)),
      hasSpread: properties.some(ts.isSpreadAssignment),
      needsComma: last !== undefined && !properties.hasTrailingComma,
    };
  }

  function memberName({ name: member }: ObjectLiteralElementLike): string[] {
    return member !== undefined && (ts.isIdentifier(member) || ts.isStringLiteral(member)) ? [member.text] : [];
  }
}
