import ts from 'typescript';

/** The parts of a source file that the architecture rules restrict, with line numbers from 1. */
export interface ParsedSource {
  imports: readonly SourceImport[];
  defaultExports: readonly number[];
  environmentReads: readonly number[];
}

/** An import or a re-export; `isLate` for one that runs when it is reached, such as `import('./b.js')`. */
export interface SourceImport {
  specifier: string;
  line: number;
  isType: boolean;
  isLate: boolean;
}

/** Reads the imports, default exports and reads of the environment of one file. */
export function readSource(text: string): ParsedSource {
  const file = ts.createSourceFile('source.tsx', text, ts.ScriptTarget.Latest);
  const imports: SourceImport[] = [];
  const defaultExports: number[] = [];
  const environmentReads: number[] = [];
  visit(file);
  return { imports, defaultExports, environmentReads };

  function visit(node: ts.Node): void {
    const specifier = specifierOf(node);
    if (specifier !== undefined) {
      imports.push({ specifier, line: lineOf(node), isType: isTypeOnly(node), isLate: ts.isCallExpression(node) });
    }
    if (isDefaultExport(node)) defaultExports.push(lineOf(node));
    if (isEnvironment(node)) environmentReads.push(lineOf(node));
    ts.forEachChild(node, visit);
  }

  function lineOf(node: ts.Node): number {
    return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  }
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier);
  if (ts.isExternalModuleReference(node)) return textOf(node.expression);
  if (ts.isCallExpression(node) && isImporter(node.expression)) return textOf(node.arguments[0]) ?? '(computed)';
  return undefined;
}

const isImporter = (callee: ts.Expression) =>
  callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require');

const textOf = (node: ts.Node | undefined) => (node && ts.isStringLiteralLike(node) ? node.text : undefined);

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) {
    const { importClause } = node;
    if (importClause === undefined) return false;
    const bindings = importClause.namedBindings;
    const areTypes = bindings && ts.isNamedImports(bindings) && allTypes(bindings.elements);
    return (
      importClause.phaseModifier === ts.SyntaxKind.TypeKeyword || (importClause.name === undefined && areTypes === true)
    );
  }
  if (!ts.isExportDeclaration(node)) return false;
  return (
    node.isTypeOnly ||
    (node.exportClause !== undefined && ts.isNamedExports(node.exportClause) && allTypes(node.exportClause.elements))
  );
}

const allTypes = (specifiers: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]) =>
  specifiers.length > 0 && specifiers.every(({ isTypeOnly: isType }) => isType);

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
  );
}

/** Matches `process.env` with a dot, with brackets or by destructuring, and `env` imported from Node. */
function isEnvironment(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return /^(node:)?process$/u.test(textOf(node.moduleSpecifier) ?? '');
  if (ts.isVariableDeclaration(node)) return node.initializer !== undefined && isProcess(node.initializer);
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  return ts.isElementAccessExpression(node) && isProcess(node.expression);
}

const isProcess = (node: ts.Expression) => ts.isIdentifier(node) && node.text === 'process';
