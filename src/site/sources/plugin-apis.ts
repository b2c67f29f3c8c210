import type { Node, Statement } from '@babel/types';
import { parseModule } from '../config/static-value.js';

/**
 * Returns the names that a module exports, in the order of its text, without running it.
 *
 * @throws SyntaxError from the parser.
 */
export function listExports(code: string): string[] {
  return [...new Set(parseModule(code).program.body.flatMap(exportsOf))];
}

function exportsOf(statement: Statement): string[] {
  switch (statement.type) {
    case 'ExportNamedDeclaration': {
      const { declaration, specifiers } = statement;
      return [
        ...(declaration ? declaredNames(declaration) : []),
        ...specifiers.map(({ exported }) => nameOf(exported)),
      ];
    }
    case 'ExpressionStatement':
      return assignedNames(statement.expression);
    default:
      return [];
  }
}

function declaredNames(declaration: Node): string[] {
  if (declaration.type === 'VariableDeclaration') return declaration.declarations.map(({ id }) => nameOf(id));
  return 'id' in declaration && declaration.id ? [nameOf(declaration.id)] : [];
}

/** Handles `exports.a = exports.b = …`, `module.exports = { a, b }` and `Object.defineProperty(exports, 'a', …)`. */
function assignedNames(expression: Node): string[] {
  if (expression.type === 'CallExpression') return definedName(expression.callee, expression.arguments);
  if (expression.type !== 'AssignmentExpression') return [];
  const { left, right } = expression;
  if (left.type !== 'MemberExpression') return [];
  if (isExports(left)) {
    return right.type === 'ObjectExpression'
      ? right.properties.flatMap((property) => ('key' in property ? [nameOf(property.key)] : []))
      : assignedNames(right);
  }
  return [...(isExports(left.object) ? [nameOf(left.property)] : []), ...assignedNames(right)];
}

function definedName(callee: Node, args: readonly Node[]): string[] {
  const [target, name] = args;
  if (callee.type !== 'MemberExpression' || nameOf(callee.property) !== 'defineProperty') return [];
  return target && name && isExports(target) ? [nameOf(name)] : [];
}

function isExports(node: Node): boolean {
  if (node.type === 'Identifier') return node.name === 'exports';
  return node.type === 'MemberExpression' && nameOf(node.object) === 'module' && nameOf(node.property) === 'exports';
}

function nameOf(node: Node): string {
  if (node.type === 'Identifier') return node.name;
  return node.type === 'StringLiteral' ? node.value : '';
}
