"use strict";
// Formulas as relax-lint writes them, e.g. `4096*((n + 7)//8) + Max(4*n, 16)`, read into closures: nothing
// in the data is ever run as code.
const formula = (() => {
  const TOKEN = /\s*(?:(\d+)|([\p{L}_][\p{L}\p{N}_]*)|(\*\*|\/\/|[<>=!]=|[-+*%<>(),]))/uy;
  const WORDS = ["and", "or", "not"];
  const modulo = (a, b) => { const r = a % b; return r !== 0 && (r < 0) !== (b < 0) ? r + b : r; };
  const floorDivide = (a, b) => (a - modulo(a, b)) / b;
  const truncate = (a, b) => (a - (a % b)) / b;
  const bits = (operate) => (a, b) => Number(operate(BigInt(a), BigInt(b)));
  const LEVELS = [
    { or: (a, b) => a || b },
    { and: (a, b) => a && b },
    { "==": (a, b) => a === b, "!=": (a, b) => a !== b },
    { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b },
    { "+": (a, b) => a + b, "-": (a, b) => a - b },
    { "*": (a, b) => a * b, "//": floorDivide, "%": modulo },
  ];
  const CALLS = new Map(Object.entries({
    Max: Math.max, Min: Math.min,
    FloorDiv: floorDivide, FloorMod: modulo, TruncDiv: truncate, TruncMod: (a, b) => a % b,
    BitAnd: bits((a, b) => a & b), BitOr: bits((a, b) => a | b), BitXor: bits((a, b) => a ^ b),
  }));

  function tokens(text) {
    const found = [];
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const match = TOKEN.exec(text);
      if (!match) throw new SyntaxError(`not a formula: ${text}`);
      const [, number, name, sign] = match;
      if (number !== undefined) found.push(Number(number));
      else if (name !== undefined && !WORDS.includes(name)) found.push({ name });
      else found.push(name ?? sign);
    }
    return found;
  }

  function read(text) {
    const stream = tokens(text);
    let position = 0;
    const take = (expected) => {
      const token = stream[position++];
      if (expected !== undefined && token !== expected) throw new SyntaxError(`not a formula: ${text}`);
      return token;
    };
    const binary = (level) => {
      if (level === LEVELS.length) return unary();
      let left = binary(level + 1);
      while (typeof stream[position] === "string" && Object.hasOwn(LEVELS[level], stream[position])) {
        const operate = LEVELS[level][take()], a = left, b = binary(level + 1);
        left = (values) => operate(a(values), b(values));
      }
      return left;
    };
    const unary = () => {
      if (stream[position] === "-") { take(); const a = unary(); return (values) => -a(values); }
      if (stream[position] === "not") { take(); const a = unary(); return (values) => !a(values); }
      const base = atom();
      if (stream[position] !== "**") return base;
      take();
      const exponent = unary();
      return (values) => base(values) ** exponent(values);
    };
    const sequence = (item) => {
      take("(");
      const items = [item()];
      while (stream[position] === ",") { take(); items.push(item()); }
      take(")");
      return items;
    };
    const atom = () => {
      if (stream[position] === "(") { take(); const inner = binary(0); take(")"); return inner; }
      const token = take();
      if (typeof token === "number") return () => token;
      if (!token || !token.name) throw new SyntaxError(`not a formula: ${text}`);
      if (stream[position] !== "(") return named(token.name);
      if (token.name === "Piecewise") {
        const cases = sequence(() => sequence(() => binary(0)));
        return (values) => cases.find(([, holds]) => holds(values))[0](values);
      }
      const call = CALLS.get(token.name), given = sequence(() => binary(0));
      if (!call) throw new SyntaxError(`unknown function ${token.name}`);
      return (values) => call(...given.map((argument) => argument(values)));
    };
    const whole = binary(0);
    if (position !== stream.length) throw new SyntaxError(`not a formula: ${text}`);
    return whole;
  }

  function named(name) {
    if (name === "True" || name === "False") return () => name === "True";
    return (values) => {
      const value = values.get(name);
      if (value === undefined) throw new RangeError(`no value for ${name}`);
      return value;
    };
  }

  // The value of a formula, NaN where it has none or is too large to be exact.
  return (text) => {
    const compiled = read(text);
    return (values) => {
      try {
        const value = compiled(values);
        return Number.isSafeInteger(value) ? value : NaN;
      } catch (error) {
        if (error instanceof RangeError || error instanceof TypeError) return NaN;
        throw error;
      }
    };
  };
})();
