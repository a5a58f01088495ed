"""The only room that imports SQLAlchemy: tables, engine, one store module per side."""
