"""Letters of three by five dots, for pictures that are drawn without a font: each digit is one row of dots, read as bits."""

GLYPHS = {
    "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553",
    "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222", "U": "55557",
    "V": "55552", "W": "55775", "X": "55255", "Y": "55222", "Z": "71247",
    "0": "75557", "1": "26227", "2": "61247", "3": "61216", "4": "55711", "5": "74616", "6": "34757",
    "7": "71122", "8": "75757", "9": "75716", ".": "00002", ",": "00024", ":": "02020", "-": "00700",
    "+": "02720", "/": "11244", "%": "51245", "$": "36236", "(": "12221", ")": "42224", "_": "00007",
    "=": "07070", "'": "22000", "?": "61202", "!": "22202", " ": "00000",
}  # fmt: skip
WIDTH = 3
UNKNOWN = "77777"


def dots(text: str) -> list[tuple[int, int]]:
    """The dots of a text, as (column, row); what has no letter of its own is a block."""
    return [
        (at * (WIDTH + 1) + column, row)
        for at, letter in enumerate(text.upper())
        for row, bits in enumerate(GLYPHS.get(letter, UNKNOWN))
        for column in range(WIDTH)
        if int(bits) >> (WIDTH - 1 - column) & 1
    ]
