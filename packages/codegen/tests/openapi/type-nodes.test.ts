/** The compiler is the witness of the printer that the build has in its place. */
import typescript from 'typescript';
import own from '../../src/openapi/type-nodes.js';

const ts = own as unknown as typeof typescript;

type Build = (compiler: typeof typescript) => typescript.Node;

const property: (compiler: typeof typescript, type: typescript.TypeNode, comment?: string) => typescript.Node = (
  { factory, ...compiler },
  type,
  comment,
) => {
  const node = factory.createPropertySignature(
    [factory.createModifier(compiler.SyntaxKind.ReadonlyKeyword)],
    factory.createStringLiteral('a "b"\té\0' + '1'),
    factory.createToken(compiler.SyntaxKind.QuestionToken),
    type,
  );
  if (comment !== undefined) {
    compiler.addSyntheticLeadingComment(node, compiler.SyntaxKind.MultiLineCommentTrivia, comment, true);
  }
  return factory.createInterfaceDeclaration(
    [factory.createModifier(compiler.SyntaxKind.ExportKeyword)],
    factory.createIdentifier('paths'),
    undefined,
    undefined,
    [factory.createPropertySignature(undefined, factory.createIdentifier('inner'), undefined, literal()), node],
  );

  function literal(): typescript.TypeNode {
    return factory.createTypeLiteralNode([node]);
  }
};

const text = ({ factory, SyntaxKind }: typeof typescript) => factory.createKeywordTypeNode(SyntaxKind.StringKeyword);
const either = (compiler: typeof typescript) =>
  compiler.factory.createUnionTypeNode([
    text(compiler),
    compiler.factory.createLiteralTypeNode(compiler.factory.createNull()),
    compiler.factory.createLiteralTypeNode(
      compiler.factory.createPrefixUnaryExpression(
        compiler.SyntaxKind.MinusToken,
        compiler.factory.createNumericLiteral(5),
      ),
    ),
  ]);
const readonly = (compiler: typeof typescript, type: typescript.TypeNode) =>
  compiler.factory.createTypeOperatorNode(compiler.SyntaxKind.ReadonlyKeyword, type);
const list = (compiler: typeof typescript, type: typescript.TypeNode) => compiler.factory.createArrayTypeNode(type);

const CASES: readonly (readonly [string, Build])[] = [
  ['a quoted name', (compiler) => property(compiler, text(compiler))],
  ['a comment of one line', (compiler) => property(compiler, text(compiler), '* One line. ')],
  [
    'a comment with indented, empty and odd lines',
    (compiler) => property(compiler, text(compiler), '*\n * @a b\n *     c\n\n   d\u2028 * e\r\n * f\n '),
  ],
  ['a union in a list', (compiler) => property(compiler, list(compiler, either(compiler)))],
  [
    'a read-only list in a list',
    (compiler) => property(compiler, list(compiler, readonly(compiler, list(compiler, text(compiler))))),
  ],
  [
    'an intersection of unions',
    (compiler) =>
      property(
        compiler,
        compiler.factory.createIntersectionTypeNode([either(compiler), compiler.factory.createTypeLiteralNode([])]),
      ),
  ],
  [
    'a read-only tuple with a rest',
    (compiler) =>
      property(
        compiler,
        readonly(
          compiler,
          compiler.factory.createTupleTypeNode([
            either(compiler),
            compiler.factory.createRestTypeNode(list(compiler, text(compiler))),
          ]),
        ),
      ),
  ],
  [
    'a tuple whose items may be absent',
    (compiler) =>
      property(
        compiler,
        compiler.factory.createTupleTypeNode(
          [text(compiler), either(compiler), readonly(compiler, list(compiler, text(compiler)))].map((type) =>
            compiler.factory.createOptionalTypeNode(type),
          ),
        ),
      ),
  ],
  ['an empty tuple', (compiler) => property(compiler, compiler.factory.createTupleTypeNode([]))],
  [
    'an indexed access to a list, with arguments',
    (compiler) =>
      property(
        compiler,
        compiler.factory.createIndexedAccessTypeNode(
          readonly(
            compiler,
            list(compiler, compiler.factory.createTypeReferenceNode('Omit', [text(compiler), either(compiler)])),
          ),
          compiler.factory.createLiteralTypeNode(compiler.factory.createNumericLiteral(0)),
        ),
      ),
  ],
  [
    'an index signature',
    ({ factory, ...compiler }) =>
      property(
        { factory, ...compiler },
        factory.createTypeLiteralNode([
          factory.createIndexSignature(
            undefined,
            [
              factory.createParameterDeclaration(
                undefined,
                undefined,
                factory.createIdentifier('key'),
                undefined,
                text({ factory, ...compiler }),
              ),
            ],
            text({ factory, ...compiler }),
          ),
        ]),
      ),
  ],
  [
    'an alias',
    ({ factory, ...compiler }) =>
      factory.createTypeAliasDeclaration(
        [factory.createModifier(compiler.SyntaxKind.ExportKeyword)],
        'webhooks',
        undefined,
        factory.createTypeReferenceNode('Record', [text({ factory, ...compiler })]),
      ),
  ],
  [
    'an interface without members',
    ({ factory }) => factory.createInterfaceDeclaration(undefined, 'operations', undefined, undefined, []),
  ],
  [
    'a declaration that is written as text',
    (compiler) =>
      compiler.createSourceFile(
        'stringInput',
        'type WithRequired<T, K extends keyof T> = T & { [P in K]-?: T[P] };',
        99,
      ).statements[0] as typescript.Node,
  ],
];

test.each(CASES)('the build prints %s as the compiler does', (_, build) => {
  expect(print(ts, build)).toBe(print(typescript, build));
});

function print(compiler: typeof typescript, build: Build): string {
  const file = compiler.createSourceFile('types.ts', '', compiler.ScriptTarget.ESNext, false, compiler.ScriptKind.TS);
  Object.assign(file, { statements: compiler.factory.createNodeArray([build(compiler)]) });
  return compiler.createPrinter({ newLine: compiler.NewLineKind.LineFeed }).printFile(file);
}
